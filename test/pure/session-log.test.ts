import { fork } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { type Home, homeAt } from "../../src/daemon/home.ts";
import { policyOf } from "../../src/engine/domain/redaction/policy.ts";
import { readRecords, readSessions } from "../../src/hosts/sessions/read-sessions.ts";
import { noteSession, type SessionStarted, sessionLogFile } from "../../src/hosts/sessions/session-log.ts";
import { eraseTraces } from "../../src/hosts/traces/erase-traces.ts";

const scratch = mkdtempSync(join(tmpdir(), "butler-sessions-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const freshHome = (): Home => homeAt(mkdtempSync(join(scratch, "home-")));
const NOON = "2026-03-02T12:00:00.000Z";
const LATER = new Date("2026-03-02T13:00:00.000Z");
const started = (id: string, more: Partial<SessionStarted> = {}): { started: SessionStarted } => ({
  started: { id, butler: "general", agent: "claude", kind: "run", folder: "/work", at: NOON, memory: "used", ...more },
});

describe("the log of sessions", () => {
  it("tells what ran, the newest first, with how it ended", () => {
    const home = freshHome();
    noteSession(home, started("a", { project: "github.com/acme/app", prompt: "Plan  the\nrelease" }));
    noteSession(home, started("b", { at: "2026-03-02T12:30:00.000Z", memory: "empty" }));
    const end = { id: "a", at: "2026-03-02T12:01:00.000Z", state: "failed", exit_code: 3, episodes: 0 } as const;
    noteSession(home, { ended: { ...end, tools: ["bash"], cost_usd: 0.5, duration_ms: 60_000 } });
    const [b, a] = readSessions(home, 10, LATER);
    expect(b).toMatchObject({ id: "b", state: "running", memory: "empty" });
    expect(a).toMatchObject({ id: "a", state: "failed", exit_code: 3, prompt: "Plan the release", tools: ["bash"] });
    expect(a).toMatchObject({ at: NOON, ended_at: end.at, project: "github.com/acme/app", duration_ms: 60_000 });
    expect(readSessions(home, 1, LATER).map(({ id }) => id)).toEqual(["b"]);
    expect(readSessions(freshHome(), 5)).toEqual([]);
  });

  it("calls a session without an end running for a day, then lost", () => {
    const home = freshHome();
    noteSession(home, started("a"));
    expect(readSessions(home, 1, new Date("2026-03-03T11:59:00Z"))[0]?.state).toBe("running");
    expect(readSessions(home, 1, new Date("2026-03-03T12:01:00Z"))[0]?.state).toBe("lost");
  });

  it("lets a session that is taken up again run again", () => {
    const home = freshHome();
    noteSession(home, started("a"));
    noteSession(home, { ended: { id: "a", at: NOON, state: "done" } });
    noteSession(home, started("a", { at: "2026-03-02T12:45:00.000Z" }));
    expect(readSessions(home, 5, LATER)).toEqual([
      expect.objectContaining({ id: "a", state: "running", at: "2026-03-02T12:45:00.000Z" }),
    ]);
  });

  it("tells what a session was given, also after it was taken up again, and nothing of a session that is not known", () => {
    const home = freshHome();
    noteSession(home, started("a", { key: "k1" }));
    noteSession(home, started("a", { key: "k2" }));
    noteSession(home, { told: { id: "a", key: "k1", at: NOON, ids: ["m1", "m2"], tokens: 40 } });
    noteSession(home, started("a", { key: "k1" }));
    noteSession(home, { told: { id: "a", key: "k1", at: NOON, ids: ["m3"], tokens: 7 } });
    noteSession(home, { told: { id: "lost", at: NOON, ids: ["m4"], tokens: 7 } });
    appendFileSync(sessionLogFile(home), '{"told":{"id":"a","key":"k1","at":"2026-03-02","ids":"m5","tokens":1}}\n');
    const told = readRecords(home, LATER).map((record) => [record.session.key, record.told.map(({ ids }) => ids)]);
    expect(told.toSorted()).toEqual([
      ["k1", [["m1", "m2"], ["m3"]]],
      ["k2", []],
    ]);
  });

  it("shows the first prompt of a session whose start brought none, without what its butler takes out", () => {
    const home = freshHome();
    const asked = (id: string, prompt: string) =>
      noteSession(
        home,
        { asked: { id, at: NOON, prompt } },
        policyOf({ keep_kinds: [], also: ["email"], patterns: [] }),
      );
    noteSession(home, started("a", { kind: "hook" }));
    asked("a", "Write to ada@example.org <private>about Bo</private> with the key AKIAIOSFODNN7EXAMPLE, please");
    asked("a", "And now the second");
    // A session that begins with its prompt is noted with the answer to it.
    asked("b", "Plan the picnic");
    noteSession(home, started("b", { kind: "hook" }));
    const prompts = Object.fromEntries(readSessions(home, 9, LATER).map(({ id, prompt }) => [id, prompt]));
    expect(prompts.b).toBe("Plan the picnic");
    expect(prompts.a).toMatch(/^Write to \[.*\] with the key \[.*\], please$/);
    for (const secret of ["ada@", "Bo", "AKIA"])
      expect(readFileSync(sessionLogFile(home), "utf8")).not.toContain(secret);
    const traces = { sessions: [], ids: [], names: (text: string) => text.includes("picnic") };
    expect(eraseTraces(home, traces).session_log).toBe(1);
    expect(readSessions(home, 9, LATER).find(({ id }) => id === "b")).toMatchObject({ state: "running" });
    expect(readFileSync(sessionLogFile(home), "utf8")).not.toContain("picnic");
  });

  it("keeps nothing private, and tells sessions of two callers apart that have one name", () => {
    const home = freshHome();
    noteSession(home, started("a", { key: "k1", prompt: "Plan it <private>with Ada</private> today" }));
    noteSession(home, started("a", { key: "k2", agent: "gemini" }));
    noteSession(home, { ended: { id: "a", key: "k2", at: NOON, state: "failed" } });
    const sessions = readSessions(home, 9, LATER);
    expect(sessions.map(({ key, state }) => [key, state]).toSorted()).toEqual([
      ["k1", "running"],
      ["k2", "failed"],
    ]);
    expect(readFileSync(sessionLogFile(home), "utf8")).not.toContain("Ada");
  });

  it("keeps no secret and no long prompt, and nobody else can read it", () => {
    const home = freshHome();
    noteSession(home, started("a", { prompt: `Use password=hunter2-Zk81qLp0 now. ${"word ".repeat(2_000)}` }));
    const text = readFileSync(sessionLogFile(home), "utf8");
    expect(text).not.toContain("hunter2");
    const [session] = readSessions(home, 1, LATER);
    expect(session?.prompt?.length).toBeLessThanOrEqual(200);
    expect(session?.prompt).toMatch(/^Use .*…$/);
    expect(statSync(sessionLogFile(home)).mode & 0o777).toBe(0o600);
  });

  it("keeps no secret in an id or a path either, and finds the end of such a session", () => {
    const home = freshHome();
    const secret = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    const ids = { key: `local ${secret}`, project: `host/${secret}`, folder: `/home/ada/${secret}/app` };
    noteSession(home, started(secret, ids));
    noteSession(home, { ended: { id: secret, key: ids.key, at: NOON, state: "done" } });
    expect(readFileSync(sessionLogFile(home), "utf8")).not.toContain(secret);
    expect(readSessions(home, 10, LATER)).toMatchObject([
      { state: "done", folder: "/home/ada/[redacted:github_token]/app" },
    ]);
  });

  it("reads past broken, half and foreign lines", () => {
    const home = freshHome();
    noteSession(home, started("a"));
    appendFileSync(sessionLogFile(home), '{"started":{"id":"cut off');
    noteSession(home, { ended: { id: "a", at: NOON, state: "done" } });
    appendFileSync(
      sessionLogFile(home),
      'null\n[]\n{"started":{"id":1}}\n{"ended":{"id":"a","at":"never","state":"x"}}\n\0\n',
    );
    noteSession(home, { ended: { id: "nobody", at: NOON, state: "done" } });
    expect(readSessions(home, 9, LATER)).toEqual([expect.objectContaining({ id: "a", state: "done" })]);
  });

  it("gives every session back that was noted, whatever stands in it", () => {
    const home = freshHome();
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.uuid(), fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), (id, prompt, folder) => {
        noteSession(home, started(id, { prompt, folder, memory: prompt }));
        seen.add(id);
        expect(readSessions(home, Number.POSITIVE_INFINITY, LATER).length).toBe(seen.size);
      }),
      { numRuns: 50 },
    );
  });

  it("never troubles its host", () => {
    const file = join(scratch, "a-file");
    writeFileSync(file, "");
    expect(() => noteSession(homeAt(join(file, "below")), started("a"))).not.toThrow();
    const home = freshHome();
    noteSession(home, started("a"));
    chmodSync(home.logs, 0o500);
    noteSession(home, { ended: { id: "a", at: NOON, state: "done" } });
    chmodSync(home.logs, 0o700);
    expect(readSessions(home, 1, LATER)).toHaveLength(1);
  });

  it("is put aside when it is large, and both parts are read", () => {
    const home = freshHome();
    noteSession(home, started("old"));
    appendFileSync(sessionLogFile(home), `${"x".repeat(5 * 1024 * 1024)}\n`);
    noteSession(home, started("new", { at: "2026-03-02T12:10:00.000Z" }));
    noteSession(home, { ended: { id: "old", at: NOON, state: "done" } });
    expect(statSync(`${sessionLogFile(home)}.1`).size).toBeGreaterThan(5 * 1024 * 1024);
    expect(statSync(sessionLogFile(home)).size).toBeLessThan(1_000);
    expect(readSessions(home, 9, LATER).map(({ id, state }) => `${id} ${state}`)).toEqual(["new running", "old done"]);
  });

  it("loses no line when several processes write, also while it is put aside", async () => {
    const home = freshHome();
    noteSession(home, started("first"));
    appendFileSync(sessionLogFile(home), `${"x".repeat(5 * 1024 * 1024 - 5_000)}\n`);
    const script = join(scratch, "writer.ts");
    const source = JSON.stringify(new URL("../../src/hosts/sessions/session-log.ts", import.meta.url).pathname);
    writeFileSync(
      script,
      `import { noteSession } from ${source};
       const [root, name] = process.argv.slice(2);
       for (let nth = 0; nth < 60; nth++)
         noteSession({ logs: root + "/logs" }, { started: { id: name + nth, butler: "general", agent: "a", kind: "run",
           folder: "/", at: "${NOON}", memory: "used" } });`,
    );
    const writers = ["p", "q", "r"].map(
      (name) =>
        new Promise((done) =>
          fork(script, [home.root, name], { execArgv: ["--import", "tsx"] }).once("exit", (code) => done(code)),
        ),
    );
    expect(await Promise.all(writers)).toEqual([0, 0, 0]);
    expect(existsSync(`${sessionLogFile(home)}.1`)).toBe(true);
    expect(readSessions(home, 999, LATER)).toHaveLength(181);
  });
});
