import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, inject, describe as suite, test } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { AGENT_NAMES } from "../../src/hosts/hooks/dialects.ts";
import { prepareInstall } from "../../src/hosts/install/install.ts";
import type { World } from "../pure/install-world.ts";
import { type HookRig, hookRig, type RunOptions } from "../support/hook-script.ts";

const INPUT = JSON.stringify({ session_id: "s", cwd: "/p", prompt: "50 % of $HOME \\n 'is' \"mine\" `id` ü\u2028" });
const CONTEXT = '{"hookSpecificOutput":{"additionalContext":"a\\nb % \\\\"}}';

let rig: HookRig;
let world: World;
let home: string;
beforeEach(() => {
  rig = hookRig();
  ({ world, root: home } = rig);
});
afterEach(() => rig.end());

const run = (options: RunOptions = {}) => rig.run({ input: INPUT, ...options });
const owner: HookRig["owner"] = (answer, root) => rig.owner(answer, root);
const slowCalls = () => rig.slowCalls();

const QUIET = { code: 0, stdout: "", stderr: "" };
const SLOW = { code: 0, stdout: '{"slow":true}\n', stderr: "" };

/** The quick way is Perl's, or curl's. */
const missing = inject("missingPrograms");
const describe = suite.skipIf(missing.includes("curl"));
const askers = (["perl", "curl"] as const).filter((asker) => !missing.includes(asker));
const shells = ["/bin/sh", "/bin/bash"].filter((shell) => existsSync(shell));
const ways = shells.flatMap((shell) => askers.map((asker) => ({ shell, asker })));

/** Where of the two programs that can ask an owner only this one works. */
function onlyWith(asker: "perl" | "curl"): Record<string, string> {
  const bin = join(world.root, `only ${asker}`);
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, asker === "perl" ? "curl" : "perl"), "#!/bin/sh\necho broken\nexit 2\n", { mode: 0o755 });
  return { PATH: `${bin}:${process.env.PATH}` };
}

suite.each(ways)("the hook under $shell with $asker", ({ shell, asker }) => {
  const run = (options: RunOptions = {}) =>
    rig.run({ input: INPUT, shell, ...options, env: { ...onlyWith(asker), ...options.env } });

  test("prints the owner's answer, and starts nothing", async () => {
    const asked = await owner((response) => response.end(CONTEXT));
    expect(await run()).toEqual({ code: 0, stdout: `${CONTEXT}\n`, stderr: "" });
    expect(asked).toMatchObject([{ url: "/hooks/claude-code/UserPromptSubmit?butler=general", body: INPUT }]);
    expect(asked[0]?.headers["content-type"]).toBe("application/json");
    expect(asked[0]?.headers["x-butler-project"]).toBeUndefined();
    expect(slowCalls()).toEqual([]);
  });

  test("an owner that is silent is left, and the word goes the short way", async () => {
    await owner(() => undefined);
    expect(await run({ event: "SessionEnd" })).toEqual(SLOW);
    expect(slowCalls()).toMatchObject([
      { args: ["hook", "claude-code", "SessionEnd", "--butler", "general", "--late"], input: INPUT },
    ]);
  });

  test("nobody behind the socket: the slow way, with the same words", async () => {
    await owner((_, request) => request.socket.destroy());
    expect(await run()).toEqual(SLOW);
    expect(slowCalls()).toEqual([
      {
        args: [
          "hook",
          "claude-code",
          "UserPromptSubmit",
          "--butler",
          "general",
          "--spent",
          expect.stringMatching(/^[\d.,]+$/),
        ],
        input: INPUT,
        home: homeAt(home).root,
      },
    ]);
  });
});

suite.each(askers.map((asker) => ({ asker })))("what the owner says to $asker", ({ asker }) => {
  const run = (options: RunOptions = {}) =>
    rig.run({ input: INPUT, ...options, env: { ...onlyWith(asker), ...options.env } });

  test.each([
    [204, ""],
    [200, ""],
    [200, "sorry, no JSON"],
  ])("%i with %j is silence", async (status, body) => {
    await owner((response) => response.writeHead(status).end(body));
    expect(await run()).toEqual(QUIET);
    expect(slowCalls()).toEqual([]);
  });

  test("an owner that is leaving, or does not know hooks yet, is gone round", async () => {
    await owner((response) => response.writeHead(503).end('{"error":{}}'));
    expect(await run()).toEqual(SLOW);
  });

  test("a large prompt arrives whole, and the project is named", async () => {
    const asked = await owner((response) => response.end(CONTEXT));
    const input = JSON.stringify({ prompt: "ä long line\n".repeat(100_000) });
    expect((await run({ input, env: { BUTLER_PROJECT: "github.com/acme/app" } })).stdout).toBe(`${CONTEXT}\n`);
    expect(asked[0]?.body).toBe(input);
    expect(asked[0]?.headers["x-butler-project"]).toBe("github.com/acme/app");
  });

  test("an answer in pieces, and one that does not tell its length, arrive whole", async () => {
    const long = CONTEXT.replace("a\\nb", "ä".repeat(200_000));
    await owner(async (response) => {
      response.flushHeaders();
      for (let at = 0; at < long.length; at += 70_001) {
        await new Promise((written) => response.write(long.slice(at, at + 70_001), written));
      }
      response.end();
    });
    expect((await run()).stdout).toBe(`${long}\n`);
  });

  test("half an answer is none", async () => {
    await owner((response) => {
      response.writeHead(200, { "content-length": CONTEXT.length + 9 });
      response.write(CONTEXT, () => response.destroy());
    });
    expect(await run()).toEqual(SLOW);
  });

  test("what a session was given goes with its prompts, and only what can be that", async () => {
    const asked = await owner((response) => response.end(CONTEXT));
    const spool = join(home, "spool");
    mkdirSync(spool, { recursive: true });
    for (const [session, mark] of Object.entries({ told: "1a:2,3-f\nmore", odd: "x-y: z", none: "" }))
      writeFileSync(join(spool, `given.general.claude-code.${session}`), `${mark}\n`);
    for (const session_id of ["told", "odd", "none", "new", "../told", ".told", "to\\u006cd"])
      await run({ input: JSON.stringify({ session_id, prompt: 'the "session_id":"told" of another' }) });
    const given = asked.map(({ headers }) => headers["x-butler-given"]);
    expect(given).toEqual(["1a:2,3-f", ...Array.from({ length: 6 }, () => undefined)]);
  });

  test("an event that nobody dealt with is handed on as it came, line breaks at its end aside", async () => {
    const input = `${"x".repeat(200_000)}\n"ü" % \\ `;
    await owner((response) => response.writeHead(500).end("no\n200 0.1 s"));
    expect(await run({ input: `${input}\n\n` })).toEqual(SLOW);
    expect(slowCalls()[0]?.input === input).toBe(true);
  });

  test("a project's name cannot say more than a name", async () => {
    const asked = await owner((response) => response.end(CONTEXT));
    await run({ env: { BUTLER_PROJECT: "acme\r\nx-butler-given: 1" } });
    expect(asked.map(({ headers }) => headers["x-butler-given"])).toEqual(asked.map(() => undefined));
  });

  test("neither a proxy nor the person's settings of curl and Perl come between", async () => {
    await owner((response) => response.end(CONTEXT));
    writeFileSync(join(world.user, ".curlrc"), "include\nverbose\n");
    const proxy = { http_proxy: "http://127.0.0.1:9", ALL_PROXY: "http://127.0.0.1:9" };
    const env = { ...proxy, PERL5OPT: "-MNobodyHasThis", PERL_UNICODE: "SDA" };
    expect(await run({ env })).toEqual({ code: 0, stdout: `${CONTEXT}\n`, stderr: "" });
  });
});

suite.skipIf(missing.includes("curl"))("a Perl that is none", () => {
  test.each([
    ["says so", "echo broken; exit 2"],
    ["fails silently", "exit 1"],
    ["seems to have done it", "exit 0"],
    ["prints what it was not asked for", "printf 'usage\\n7 8 9\\n'; exit 0"],
    ["cannot ask here", 'cat; printf "\\n000 0.000000 "; exit 99'],
  ])("one that %s leaves the question to curl", async (_, perl) => {
    const asked = await owner((response) => response.end(CONTEXT));
    const bin = join(world.root, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "perl"), `#!/bin/sh\n${perl}\n`, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env.PATH}` };
    for (const event of ["UserPromptSubmit", "Stop"])
      expect(await run({ event, env })).toEqual({ code: 0, stdout: `${CONTEXT}\n`, stderr: "" });
    expect(asked.map(({ body }) => body)).toEqual([INPUT, INPUT]);
    expect(slowCalls()).toEqual([]);
  });
});

describe("without an owner", () => {
  test("no socket: the slow way", async () => {
    expect(await run()).toEqual(SLOW);
  });

  test("neither Perl nor curl, and nothing else but node: the slow way, with the same words", async () => {
    await owner((response) => response.end(CONTEXT));
    const bin = join(world.root, "bin");
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, "node"));
    expect(await run({ env: { PATH: bin } })).toEqual(SLOW);
    expect(slowCalls()).toMatchObject([{ input: INPUT }]);
  });

  test("a roster that was named when it was installed is named again, unless another one is", async () => {
    const withRoster = rig.install("roster", { roster: "/the roster" });
    await run({ script: withRoster });
    await run({ script: withRoster, env: { BUTLER_ROSTER: "/mine" } });
    expect(slowCalls().map(({ roster }) => roster)).toEqual(["/the roster", "/mine"]);
  });

  test.each([
    ["that fails", "process.exit(3)"],
    ["that says something else", 'console.log("hello")'],
    ["that is broken", "}"],
  ])("a program %s is as good as none", async (_, entry) => {
    expect(await run({ script: rig.install("odd", { entry }) })).toEqual(QUIET);
  });

  test("no program at all", async () => {
    rmSync(join(home, "it's an entry.cjs"));
    expect(await run({ env: { PATH: "/nowhere" } })).toEqual(QUIET);
  });

  test("as it lies in the package: butler from the PATH, and the usual home", async () => {
    const plain = "plugins/hook.sh";
    const bin = join(world.root, "bin");
    mkdirSync(bin);
    writeFileSync(
      join(bin, "butler"),
      '#!/bin/sh\nread -r line\nprintf \'{"args":"%s","home":"%s"}\' "$*" "$BUTLER_HOME"\n',
      { mode: 0o755 },
    );
    const { stdout } = await run({ script: plain, env: { PATH: bin } });
    expect(JSON.parse(stdout)).toEqual({
      args: "hook claude-code UserPromptSubmit --butler general",
      home: join(world.user, ".butler"),
    });
  });
});

describe("what the environment says", () => {
  test.each([{ BUTLER_CONSOLIDATION: "1" }, { BUTLER_SPAWNED: "1" }, { BUTLER_HOOKS: "off" }])(
    "%j: not a word",
    async (env) => {
      const asked = await owner((response) => response.end(CONTEXT));
      expect(await run({ env: env as unknown as Record<string, string> })).toEqual(QUIET);
      expect(asked).toEqual([]);
      expect(slowCalls()).toEqual([]);
    },
  );

  test("another home goes before the one it was installed for", async () => {
    const other = mkdtempSync(join(tmpdir(), "o-"));
    const asked = await owner((response) => response.end(CONTEXT), other);
    expect((await run({ env: { BUTLER_HOME: other } })).stdout).toBe(`${CONTEXT}\n`);
    expect(asked).toHaveLength(1);
    expect(slowCalls()).toEqual([]);
    rmSync(other, { recursive: true, force: true });
  });

  test("a home with a long path has its socket elsewhere, and it is found", async () => {
    const far = join(home, "a".repeat(60), "b".repeat(60));
    mkdirSync(far, { recursive: true });
    expect(homeAt(far).socket.startsWith(far)).toBe(false);
    const asked = await owner((response) => response.end(CONTEXT), far);
    expect((await run({ script: rig.install("far", { home: far }) })).stdout).toBe(`${CONTEXT}\n`);
    expect(asked).toHaveLength(1);
    rmSync(dirname(homeAt(far).socket), { recursive: true, force: true });
  });
});

suite("a project's copy", () => {
  test("answers, and is silent where the person has memory of their own", async () => {
    const bin = join(world.root, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "butler"), "#!/bin/sh\nprintf '{\"slow\":true}'\n", { mode: 0o755 });
    const ask = () => run({ script: "plugins/hook.sh", env: { PATH: bin, BUTLER_HOME: home } });
    expect(await ask()).toEqual(SLOW);
    const theirs = join(home, "installs", "claude-code", "user");
    mkdirSync(theirs, { recursive: true });
    writeFileSync(join(theirs, "manifest.json"), "{}");
    expect(await ask()).toEqual(QUIET);
  });
});

suite.each(AGENT_NAMES)("beside the hooks of %s", (agent) => {
  test.each(["user", "project"] as const)("its server is told of them, if they keep what happened (%s)", (scope) => {
    const { writes } = prepareInstall(world.order(agent, scope), new Date(0), false);
    const tells = writes.some(({ after = "" }) => /"--project",\s*"auto",\s*"--hooks"/.test(after));
    // Of Cursor no answer comes to its hooks.
    expect(tells).toBe(agent !== "cursor");
  });
});
