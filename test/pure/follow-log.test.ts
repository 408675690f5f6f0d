import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Home, homeAt } from "../../src/daemon/home.ts";
import { followLog } from "../../src/hosts/sessions/follow-log.ts";
import { noteSession, type SessionLogEvent, sessionLogFile } from "../../src/hosts/sessions/session-log.ts";

const scratch = mkdtempSync(join(tmpdir(), "butler-follow-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const AT = "2026-03-02T12:00:00.000Z";
const freshHome = (): Home => homeAt(mkdtempSync(join(scratch, "home-")));
const ended = (id: string): SessionLogEvent => ({ ended: { id, at: AT, state: "done" } });
const idsOf = (events: readonly SessionLogEvent[]) =>
  events.map((event) => Object.values(event as Record<string, { readonly id: string }>)[0]?.id);

describe("following the log of sessions", () => {
  it("tells each line once, in order, and waits for the end of a line", () => {
    const home = freshHome();
    const log = followLog(home);
    expect(log.read()).toEqual([]);
    noteSession(home, ended("a"));
    noteSession(home, ended("b"));
    expect(idsOf(log.read())).toEqual(["a", "b"]);
    const line = `${JSON.stringify(ended("zürich"))}\n`;
    const half = Buffer.from(line).indexOf(0xc3) + 1;
    appendFileSync(sessionLogFile(home), Buffer.from(line).subarray(0, half));
    expect(log.read()).toEqual([]);
    appendFileSync(sessionLogFile(home), Buffer.from(line).subarray(half));
    expect(idsOf(log.read())).toEqual(["zürich"]);
    expect(log.read()).toEqual([]);
  });

  it("loses nothing when the log is put aside, and tells nothing twice when two processes did that at once", () => {
    const home = freshHome();
    noteSession(home, ended("old"));
    const log = followLog(home);
    expect(idsOf(log.read())).toEqual(["old"]);
    noteSession(home, ended("before"));
    renameSync(sessionLogFile(home), `${sessionLogFile(home)}.1`);
    noteSession(home, ended("after"));
    expect(idsOf(log.read())).toEqual(["before", "after"]);
    // A second process has put the new file aside, and appends its lines again.
    const again = `${JSON.stringify(ended("after"))}\n`;
    rmSync(sessionLogFile(home));
    writeFileSync(sessionLogFile(home), again);
    noteSession(home, ended("last"));
    expect(idsOf(log.read())).toEqual(["last"]);
  });

  it("reads both parts at first, of 5 MB too, and past lines that are none", () => {
    const home = freshHome();
    mkdirSync(home.logs, { recursive: true });
    const many = Array.from({ length: 20_000 }, (_, n) => JSON.stringify(ended(`s${n}`.padEnd(200, "x"))));
    writeFileSync(`${sessionLogFile(home)}.1`, `${many.join("\n")}\n`);
    writeFileSync(sessionLogFile(home), `${"x".repeat(5 * 1024 * 1024)}\n\0null\n${JSON.stringify(ended("new"))}\n`);
    const log = followLog(home);
    const events = log.read();
    expect(events).toHaveLength(20_001);
    expect(idsOf(events).at(-1)).toBe("new");
    noteSession(home, ended("newer"));
    expect(idsOf(log.read())).toEqual(["newer"]);
  });

  it("begins again when the log was emptied", () => {
    const home = freshHome();
    noteSession(home, ended("a"));
    const log = followLog(home);
    log.read();
    writeFileSync(sessionLogFile(home), "");
    expect(log.read()).toEqual([]);
    noteSession(home, ended("b"));
    expect(idsOf(log.read())).toEqual(["b"]);
  });
});
