/** `butler log` and `butler sessions show` as people run them: real owners, real hooks. Needs `npm run build`. */

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test, vi } from "vitest";
import { changeMark } from "../../src/daemon/change-marks.ts";
import { homeAt } from "../../src/daemon/home.ts";
import { namesEnding } from "../../src/hosts/hooks/spool/files.ts";
import { noteSession, sessionLogFile } from "../../src/hosts/sessions/session-log.ts";
import { installHooks } from "../support/agent-hooks.ts";
import { butler, cleanUp, emptyHome, ownerNote, seededHome, variablesFor } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { transcript } from "../support/transcript.ts";

const BUTLER = fileURLToPath(new URL("../../dist/main/butler.js", import.meta.url));
const followers = new Set<ReturnType<typeof spawn>>();
afterAll(async () => {
  for (const child of followers) child.kill("SIGKILL");
  await cleanUp();
});

/** A `butler log --follow` that is under way. */
function follow(home: string, ...args: string[]) {
  const child = spawn(process.execPath, [BUTLER, "log", "--follow", ...args], {
    // An owner that it has to start for the past leaves soon.
    env: variablesFor(home, { BUTLER_IDLE_SECONDS: "1" }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  followers.add(child);
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said.out += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    said.err += chunk;
  });
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const says = (text: string) => vi.waitFor(() => expect(said.out + said.err).toContain(text), PATIENCE);
  return { child, said, says, ended };
}

const logOf = async (home: string, ...args: string[]) => butler(home, ["log", ...args]);
const jsonOf = async (home: string, ...args: string[]) =>
  (await logOf(home, "--json", ...args)).stdout
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { what: string; text?: string; session?: string; project?: string });

describe("butler log", () => {
  test("tells what was remembered, changed and forgotten, and no word of what is forgotten", async () => {
    const home = await seededHome();
    await butler(home, ["remember", "cloudflare", "--fact", "dns", "host"]);
    await butler(home, ["remember", "route53", "--fact", "dns", "host"]);
    const forged = "Obey\n  12:00:00  learned    rule ROSEBUD\u001b[2K";
    const stored = await butler(home, ["remember", forged, "--rule", "--json"]);
    const { id } = JSON.parse(stored.stdout) as { id: string };
    const before = await logOf(home);
    expect(before.code).toBe(0);
    const [, heading, ...lines] = before.stdout.trimEnd().split("\n");
    expect(heading).toBe("you, on the command line");
    expect(lines.map((line) => line.slice(12))).toEqual([
      "learned    fact dns host: cloudflare  you said so",
      "changed    fact dns host: route53 (was cloudflare)  you said so",
      "learned    rule Obey 12:00:00 learned rule ROSEBUD[2K  you said so",
    ]);
    await butler(home, ["memory_forget", "--type", "rule", "--id", id]);
    const after = await logOf(home, "--verbose");
    expect(after.stdout).toMatch(/forgotten +rule \(forgotten since\)/);
    expect(after.stdout).not.toContain("ROSEBUD");
    expect(JSON.stringify(await jsonOf(home))).not.toContain("ROSEBUD");
    expect((await jsonOf(home, "--limit", "2")).map(({ what }) => what)).toEqual(["learned", "forgotten"]);
    expect(await jsonOf(home, "--since", "1h")).toHaveLength(4);
    expect((await logOf(home, "--since", "soon")).code).toBe(2);
    expect((await logOf(home, "--limit", "many")).code).toBe(2);
    expect((await logOf(home, "--butler", "nobody")).code).toBe(2);
  });

  test("tells a session's beginning, what it was told and what was stored, and so does sessions show", async () => {
    const home = await seededHome();
    const hooks = await installHooks(home);
    await butler(home, [
      "remember",
      "Grace reviews every release",
      "--fact",
      "release",
      "reviewer",
      "--scope",
      "general",
    ]);
    const session = async (id: string, prompt: string) => {
      const said = transcript(join(home, `${id}.jsonl`), id, hooks.project);
      const common = { session_id: id, transcript_path: said.path };
      await hooks.fire("SessionStart", { ...common, source: "startup" });
      await hooks.fire("UserPromptSubmit", { ...common, prompt });
      said.user(prompt);
      said.agent("I will.");
      await hooks.fire("Stop", common);
      await hooks.fire("SessionEnd", { ...common, reason: "other" });
    };
    await session("aaaa-one", "From now on, always run the tests before you commit.");
    await vi.waitFor(async () => expect((await jsonOf(home)).some(({ what }) => what === "stored")).toBe(true), {
      ...PATIENCE,
      interval: 500,
    });
    // What is learned from now on is news to the project.
    await vi.waitFor(() => expect(namesEnding(homeAt(home).spool, ".told.json")).toHaveLength(1), PATIENCE);
    await butler(home, ["job", "run", "consolidate"]);
    const events = await jsonOf(home, "--session", "aaaa");
    expect(events.every((one) => one.session === "aaaa-one" && one.project?.startsWith("folder:project"))).toBe(true);
    expect(new Set(events.map(({ what }) => what))).toEqual(new Set(["began", "told", "stored", "ended", "learned"]));
    const { stdout } = await logOf(home, "--project", String(events[0]?.project));
    expect(stdout).toMatch(/claude-code aaaa-one {2}folder:project/);
    expect(stdout).toMatch(/learned +rule Always run the tests before you commit\. {2}you said so · read by local/);
    expect(stdout).not.toContain("you, on the command line");
    expect((await jsonOf(home, "--project", "elsewhere")).length).toBe(0);

    // The person is told in a line of the next session, once.
    const common = {
      session_id: "cccc",
      transcript_path: join(home, "cccc.jsonl"),
      prompt: "What is there to be done today?",
    };
    const news = async () => (await hooks.fire("UserPromptSubmit", common)).stdout;
    const line =
      "Butler Memory learned 1 thing: rule “Always run the tests before you commit.” · butler log shows more";
    await vi.waitFor(async () => expect(await news()).toContain(line), { ...PATIENCE, interval: 200 });
    expect(await news()).not.toContain("learned");

    const shown = await butler(home, ["sessions", "show", "aaaa"]);
    expect(shown.stdout).toMatch(/^claude-code aaaa-one {2}done\n/);
    expect(shown.stdout).toMatch(
      /Told at [\d:]+: 1 memory, \d+ tokens\n {2}fact {5}[\da-z]{8} {2}release reviewer: Grace/,
    );
    expect(shown.stdout).toMatch(/Stored: 1 exchange\n/);
    expect(shown.stdout).toMatch(/Learned: 1 memory\n {2}rule {5}[\da-z]{8} {2}Always run the tests before you commit/);
    const report = JSON.parse((await butler(home, ["sessions", "show", "aaaa-one", "--json"])).stdout) as {
      told: { memories: { id: string; memory?: { text?: string } }[] }[];
      learned: { state: string; id: string }[];
    };
    const told = report.told[0]?.memories[0];
    expect(told?.memory?.text).toContain("Grace");
    await butler(home, ["memory_forget", "--id", String(told?.id)]);
    await butler(home, ["memory_forget", "--id", String(report.learned[0]?.id)]);
    const later = await butler(home, ["sessions", "show", "aaaa-one"]);
    expect(later.stdout.match(/\(forgotten since\)/g)).toHaveLength(2);
    expect(later.stdout).not.toMatch(/Grace|run the tests before you commit\. {2}/);
    expect((await butler(home, ["sessions", "show", "bbbb"])).code).toBe(3);
    expect((await butler(home, ["sessions", "show"])).code).toBe(2);
    noteSession(homeAt(home), {
      started: {
        ...{ id: "aaaa-two", butler: "general", agent: "codex", kind: "hook", folder: "/", memory: "used" },
        at: "2026-03-02T12:00:00.000Z",
      },
    });
    expect((await butler(home, ["sessions", "show", "aaaa"])).stderr).toContain("several sessions");
  });

  test("goes on with what happens, over the end and the death of an owner, and starts none", async () => {
    const home = await seededHome();
    await butler(home, ["remember", "the first thing"]);
    const log = follow(home);
    await log.says("the first thing");
    await butler(home, ["remember", "the second thing"]);
    await log.says("the second thing");
    await butler(home, ["stop"]);
    // Another owner comes with the next command.
    await butler(home, ["remember", "the third thing"]);
    await log.says("the third thing");
    process.kill(ownerNote(home)?.pid ?? 0, "SIGKILL");
    await vi.waitFor(() => expect(() => process.kill(ownerNote(home)?.pid ?? 0, 0)).toThrow(), PATIENCE);
    // A mark of a memory that nobody can be asked about: it says so once, and asks when there is an owner again.
    writeFileSync(changeMark(homeAt(home), "general"), "later");
    await log.says("general: ");
    writeFileSync(changeMark(homeAt(home), "general"), "later still");
    await butler(home, ["remember", "the fourth thing"]);
    await log.says("the fourth thing");
    for (const nth of ["first", "second", "third", "fourth"])
      expect(log.said.out.split(`the ${nth} thing`)).toHaveLength(2);
    log.child.kill("SIGINT");
    expect(await log.ended).toBe(0);
    expect(log.said.err.split("\n").filter((line) => line !== "")).toHaveLength(1);
  });

  test("asks nobody while nothing happens: the owner leaves when it is idle, and none is started to follow", async () => {
    const home = await seededHome();
    const idle = { BUTLER_IDLE_SECONDS: "1" };
    await butler(home, ["remember", "something"], idle);
    const log = follow(home);
    await log.says("something");
    await vi.waitFor(() => expect(ownerNote(home)).toBeUndefined(), PATIENCE);
    const quiet = follow(home, "--limit", "0");
    await quiet.says("No owner is running");
    noteSession(homeAt(home), {
      started: {
        ...{ id: "s1", butler: "general", agent: "codex", kind: "hook", folder: "/", memory: "used" },
        at: "2026-03-02T12:00:00.000Z",
      },
    });
    await quiet.says("codex s1");
    await log.says("codex s1");
    expect(ownerNote(home)).toBeUndefined();
    for (const one of [log, quiet]) one.child.kill("SIGTERM");
    expect(await Promise.all([log.ended, quiet.ended])).toEqual([0, 0]);
  });

  test("goes on when the log of sessions is put aside, of 5 MB too", async () => {
    const home = await seededHome();
    const at = homeAt(home);
    mkdirSync(at.logs, { recursive: true });
    writeFileSync(sessionLogFile(at), `${"x".repeat(5 * 1024 * 1024 + 10)}\n`);
    const started = (id: string) => ({
      started: {
        ...{ id, butler: "general", agent: "codex", kind: "hook" as const, folder: "/", memory: "used" },
        at: "2026-03-02T12:00:00.000Z",
      },
    });
    const log = follow(home);
    await log.says("Nothing has happened yet.");
    noteSession(at, started("new1"));
    await log.says("codex new1");
    noteSession(at, started("new2"));
    await log.says("codex new2");
    expect(readFileSync(`${sessionLogFile(at)}.1`).length).toBeGreaterThan(5 * 1024 * 1024);
    log.child.kill("SIGINT");
    expect(await log.ended).toBe(0);
  });

  test("tells of every butler, each by its name", async () => {
    const home = emptyHome();
    const roster = join(home, "roster");
    for (const name of ["anna", "bert"]) {
      mkdirSync(join(roster, name), { recursive: true });
      writeFileSync(join(roster, name, "butler.toml"), `[butler]\nname = "${name}"\n[modules.memory]\n`);
    }
    const env = { BUTLER_ROSTER: roster };
    await butler(home, ["remember", "Anna likes tea", "--butler", "anna"], env);
    await butler(home, ["remember", "Bert likes milk", "--butler", "bert"], env);
    const both = await butler(home, ["log"], env);
    expect(both.stdout).toMatch(
      /command line {2}anna\n.*Anna likes tea\n\n.*command line {2}bert\n.*Bert likes milk\n/,
    );
    const one = await butler(home, ["log", "--butler", "anna"], env);
    expect(one.stdout).not.toContain("Bert");
  });
});
