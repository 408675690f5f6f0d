/** A session starts with the opening that lies ready in a file: printed by a shell, with nobody running, and only where it is true. */

import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { AGENT_NAMES, HOOK_DIALECTS } from "../../src/hosts/hooks/dialects.ts";
import { eventOf, GONE, makeFolder, openingRig, QUIET, SECONDS, SLOW, TEXT, told } from "../support/opening-rig.ts";
import { PATIENCE } from "../support/patience.ts";

const hooks = openingRig();
const { keep, fire, handedOver } = hooks;

const contextOf = (stdout: string): string =>
  (JSON.parse(stdout) as { hookSpecificOutput: { additionalContext: string } }).hookSpecificOutput.additionalContext;

const shells = [["/bin/sh"], ["/bin/bash"]].filter(([shell]) => existsSync(shell!));

describe.each(shells)("with nobody running, under %s", (shell) => {
  test.each(AGENT_NAMES)(
    "%s gets its opening in its own format, at the first moment that can bring it",
    async (agent) => {
      keep(hooks.project);
      const { brings, answer } = HOOK_DIALECTS[agent];
      const started = await fire({ agent }, { shell: shell! });
      const prompted = await fire({ agent, moment: "prompt" }, { shell: shell! });
      const line = (event: string, context?: string) => {
        const said = answer(event, { context });
        return said === undefined ? "" : `${JSON.stringify(said)}\n`;
      };
      const atStart = brings.has("start");
      expect(started).toEqual({ ...QUIET, stdout: line(eventOf(agent, "start"), atStart ? TEXT : undefined) });
      expect(prompted).toEqual({ ...QUIET, stdout: line(eventOf(agent, "prompt"), atStart ? undefined : TEXT) });
      // The owner is told what the session was given, and an owner is started: once for the start and the prompt after it.
      await handedOver([atStart ? GONE : ["--gone", SECONDS]]);
      expect(hooks.rig.slowCalls()[0]?.input).toContain(hooks.project);
    },
  );

  test("text in any script, with anything in it, stays one JSON object with that text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", minLength: 1, maxLength: 80 }), async (text) => {
        const whole = `${text}"}}\n{"a":"$(id)\`id\`%s\\\\n\u2028\u0000\u007f'`;
        keep(hooks.project, { text: whole });
        const { stdout, stderr, code } = await fire({}, { shell: shell! });
        expect([code, stderr, stdout.trim().split("\n").length]).toEqual([0, "", 1]);
        // A lone surrogate has no bytes of its own and stays escaped.
        expect(contextOf(stdout)).toBe(whole);
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });

  test("nothing to say: nothing is printed, and nobody is waited for", async () => {
    keep(hooks.project, { text: "", ids: [], tokens: 0 });
    expect(await fire({}, { shell: shell! })).toEqual(QUIET);
    await handedOver([["--gone", SECONDS, "--given", "0:"]]);
    expect(await fire({ moment: "prompt" }, { shell: shell! })).toEqual(QUIET);
  });

  test("an owner that was killed leaves its socket: of the prompts that find nobody there, one calls another", async () => {
    keep(hooks.project);
    await fire({}, { shell: shell! });
    await handedOver([GONE]);
    // That one opened its memory, and was killed.
    unlinkSync(join(hooks.rig.root, "run", "called"));
    const listening = `const { socket } = process.env; require("node:net").createServer().listen(socket, () => process.kill(process.pid, "SIGKILL"))`;
    spawnSync(process.execPath, ["-e", listening], {
      env: { ...process.env, socket: join(hooks.rig.root, "run", "owner.sock") },
    });
    for (let prompt = 0; prompt < 5; prompt++)
      expect(await fire({ moment: "prompt" }, { shell: shell! })).toEqual(QUIET);
    await handedOver([GONE, GONE]);
  });

  test("it waits for nobody: the owner that it starts outlives the hook", async () => {
    keep(hooks.project);
    const gate = join(hooks.rig.root, "gate");
    const script = hooks.rig.install("gated", {
      entry: `const fs = require("node:fs"); fs.readFileSync(0);
        const wait = () => fs.existsSync(${JSON.stringify(gate)}) ? fs.writeFileSync(${JSON.stringify(`${gate}.done`)}, "") : setTimeout(wait, 20);
        wait();`,
    });
    expect(await fire({}, { shell: shell!, script })).toEqual(told(TEXT));
    expect(existsSync(`${gate}.done`)).toBe(false);
    writeFileSync(gate, "");
    await vi.waitFor(() => expect(existsSync(`${gate}.done`)).toBe(true), PATIENCE);
  });

  test.each([
    ["too old", (file: string) => replace(file, /^until .*$/m, `until ${Math.floor(Date.now() / 1000) - 1}`)],
    [
      "from the future",
      (file: string) => replace(file, /^until .*$/m, `until ${Math.floor(Date.now() / 1000) + 90_000}`),
    ],
    ["without a time", (file: string) => replace(file, /^until .*$/m, "until soon")],
    ["with a time in another base", (file: string) => replace(file, /^until .*$/m, "until 0777")],
    ["cut off", (file: string) => replace(file, /end\n$/, "")],
    ["of another format", (file: string) => replace(file, /^butler opening 1/, "butler opening 2")],
    ["with a line that is not known", (file: string) => replace(file, /^holds/m, "unless x\nholds")],
    ["of another project", (file: string) => replace(file, /^root .*$/m, "root /elsewhere")],
    ["made when there was a repository", (file: string) => replace(file, /^git none$/m, "git found")],
    ["of another roster", (file: string) => replace(file, /^git/m, "roster /elsewhere\ngit")],
    ["empty", (file: string) => writeFileSync(file, "")],
    ["a folder", (file: string) => replaceByFolder(file)],
    [
      "a link",
      (file: string) => {
        renameSync(file, `${file}.real`);
        symlinkSync(`${file}.real`, file);
      },
    ],
    ["without a text", (file: string) => replace(file, /^text .*\n/m, "")],
    ["of a store that was deleted", () => rmSync(hooks.rig.home.store("general"), { recursive: true })],
    [
      "behind a link",
      () => {
        renameSync(hooks.rig.home.openings, `${hooks.rig.home.openings}-real`);
        symlinkSync(`${hooks.rig.home.openings}-real`, hooks.rig.home.openings);
      },
    ],
  ])("a file that is %s is not told: the owner is asked", async (_, spoil) => {
    const file = keep(hooks.project);
    keep(undefined);
    spoil(file);
    expect((await fire({}, { shell: shell! })).stdout).toBe(SLOW.stdout);
  });

  test("folders with names that no line could hold are left to the owner, and no other folder's opening is told", async () => {
    keep(hooks.project);
    for (const name of ['a"b', "a\\b", "a\nb", "app\n", "..", "a\tb"]) {
      const folder = name === ".." ? `${hooks.project}/../../nothing` : makeFolder(join(hooks.project, "..", name));
      expect((await fire({ folder }, { shell: shell! })).stdout, JSON.stringify(name)).toBe(SLOW.stdout);
    }
    const odd = makeFolder(join(hooks.project, "..", "ünï cödé 'q' $(id) `id` * ?"));
    keep(odd, { text: "odd" });
    expect(await fire({ folder: odd }, { shell: shell! })).toEqual(told("odd"));
    // A link whose target ends with a line break.
    symlinkSync(join(hooks.project, "..", "app\n"), join(hooks.project, "..", "link"));
    expect((await fire({ folder: join(hooks.project, "..", "link") }, { shell: shell! })).stdout).toBe(SLOW.stdout);
  });

  test("a prompt of megabytes is handed over whole, and does not hold up the hook", async () => {
    keep(hooks.project);
    const prompt = 'ä "cwd":"/elsewhere" \\ \n'.repeat(100_000);
    expect(await fire({ agent: "gemini", moment: "prompt", prompt }, { shell: shell! })).toEqual(told(TEXT));
    await vi.waitFor(() => expect(hooks.rig.slowCalls()).toHaveLength(1), PATIENCE);
    expect((JSON.parse(hooks.rig.slowCalls()[0]!.input) as { prompt: string }).prompt).toBe(prompt);
  });
});

function replace(file: string, what: RegExp, by: string): void {
  const { mtime } = lstatSync(file);
  const text = readFileSync(file, "utf8");
  if (!what.test(text)) throw new Error(`${what} is not in ${text}`);
  writeFileSync(
    file,
    text.replace(what, () => by),
  );
  utimesSync(file, mtime, mtime);
}

function replaceByFolder(file: string): void {
  unlinkSync(file);
  mkdirSync(file);
}
