/** The scripted weeks are whole, are read from transcripts as real ones are, and their lines are judged as the rubric says. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { readExchanges } from "../../src/hosts/transcripts/read.ts";
import { judge, sharesOf } from "../../src/lab/everyday/week/judge.ts";
import { readWeek, type ScriptedSession } from "../../src/lab/everyday/week/script.ts";
import { idOf, transcriptOf } from "../../src/lab/everyday/week/transcript-lines.ts";

const textOf = (name: string) => readFileSync(new URL(`../../bench/week/${name}.txt`, import.meta.url), "utf8");
const saidIn = ({ parts }: ScriptedSession) =>
  parts.map((part) => ("text" in part ? part.text : "output" in part ? part.output : part.path)).join("\n");

describe.each(["coding", "alltag"])("the week %s", (name) => {
  const week = readWeek(textOf(name));

  it("has thirty sessions, one after the other", () => {
    expect(week.sessions).toHaveLength(30);
    const times = week.sessions.map(({ at }) => at.getTime());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.every(Number.isFinite)).toBe(true);
  });

  it("tells whatever is worth telling in the session from which it is known", () => {
    for (const { what, matches, from, until } of week.worth) {
      const session = week.sessions[from - 1];
      expect(session && matches.test(saidIn(session)), what).toBe(true);
      expect(until, what).toBeGreaterThan(from);
    }
  });

  it("needs in a session only what is known before it and still true", () => {
    for (const [session, needed] of week.needed)
      for (const { what, from, until } of needed) expect(from < session && session <= until, what).toBe(true);
  });

  it("is read back from the transcripts of both agents", async () => {
    const folder = mkdtempSync(join(tmpdir(), "week-"));
    try {
      for (const [nth, session] of week.sessions.entries()) {
        const id = idOf(`session ${nth}`);
        const path = join(folder, `rollout-${id}.jsonl`);
        writeFileSync(
          path,
          transcriptOf(session, id, folder)
            .flatMap(({ lines }) => lines)
            .join(""),
        );
        const read: string[] = [];
        for await (const { content } of readExchanges({ agent: session.agent, path, final: true })) read.push(content);
        const answered = session.parts.some((part, at) => part.kind === "agent" && part.text.length > 25 && at > 0);
        expect(read.length > 0 || !answered).toBe(true);
        for (const content of read) expect(content).toMatch(/^User: /);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("a line of an opening is", () => {
  const week = readWeek(`== 2026-03-02 08:00 claude-code
> a
## worth
1-3 | the old port | 5433
2- | the new port | 5544
1- | pnpm | pnpm`);
  const verdicts = (session: number, ...lines: string[]) => {
    const text = lines.map((line) => `- ${line}\n`).join("");
    return judge(week, { session, at: "", text, tokens: 1 }).lines.map(({ verdict }) => verdict);
  };

  test("useful once, useless when it was said before or says nothing", () => {
    expect(verdicts(2, "use pnpm", "pnpm again", "good morning")).toEqual(["useful", "useless", "useless"]);
  });
  test("harmful when nothing of it is true any more", () => {
    expect(verdicts(3, "port 5433")).toEqual(["useful"]);
    expect(verdicts(4, "port 5433", "5544, not 5433")).toEqual(["harmful", "useful"]);
  });
  test("not useful before it is known", () => {
    expect(verdicts(1, "use pnpm")).toEqual(["useless"]);
  });

  it("and what a session needs is named as it is among what is worth telling", () => {
    const text = "## worth\n1- | pnpm | pnpm\n## needed\n2 | ";
    expect(
      readWeek(`${text}pnpm`)
        .needed.get(2)
        ?.map(({ what }) => what),
    ).toEqual(["pnpm"]);
    expect(() => readWeek(`${text}npm`)).toThrow("npm");
  });

  it("and all of them are counted", () => {
    const judged = [judge(week, { session: 4, at: "", text: "- pnpm\n- 5433\n- hi\n", tokens: 30 })];
    expect(sharesOf(judged)).toMatchObject({ lines: 3, useful: 1, useless: 1, harmful: 1, tokens: 30, told: 0.5 });
  });
});
