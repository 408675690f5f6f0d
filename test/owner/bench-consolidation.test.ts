/** `butler bench consolidation` from its words to its figures, small, with the real model. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../../src/lab/bench.ts";
import { type ConsolidationReport, consolidationLines } from "../../src/lab/consolidation/figures.ts";
import { holdAgainst, readJudgements } from "../../src/lab/consolidation/judgements.ts";
import { sampled } from "../../src/lab/consolidation/sample.ts";
import { readEnvironment } from "../../src/main/environment.ts";
import { TEST_MODEL_CACHE, testModel } from "../support/model.ts";

const folder = mkdtempSync(join(tmpdir(), "bc-"));
const file = join(folder, "talk.json");
beforeAll(() => testModel());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const said = (id: string, speaker: string, text: string) => ({
  ...{ id, speaker, text, session: "s1", time: "2026-02-01T10:00:00Z" },
});
const TALK = {
  name: "talk",
  corpora: [
    {
      id: "c1",
      memories: [
        said("m1", "Ada", "I live in Porto."),
        said("m2", "Grace", "How are you today?"),
        said("m3", "Ada", "My favourite colour is green."),
        said("m4", "Ada", "As I said, I live in Porto."),
        said("m5", "Grace", "Thanks, see you later!"),
      ],
      questions: [{ id: "q1", question: "Where does Ada live?", evidence: ["m1"] }],
    },
  ],
};

async function bench(args: readonly string[], modelDir = TEST_MODEL_CACHE): Promise<string> {
  const lines: string[] = [];
  const environment = readEnvironment({ BUTLER_HOME: join(folder, "home"), BUTLER_MODEL_DIR: modelDir });
  const context = { environment, say: (line: string) => void lines.push(line), note: () => undefined };
  expect(await run(["consolidation", ...args], context)).toBe(0);
  return lines.join("\n");
}

describe("butler bench consolidation", () => {
  test("counts what was learned, what is doubled, what has no witness, and what a second run changes", async () => {
    writeFileSync(file, JSON.stringify(TALK));
    const report = JSON.parse(await bench(["--data", file, "--json"])) as ConsolidationReport;
    expect(report).toMatchObject({ turns: 5, provenance: 1, changed_again: 0, precision: null, store: "pglite" });
    expect(report.facts).toBeGreaterThanOrEqual(2);
    expect(report.duplicate_rate).toEqual({ exact: 0, near: 0 });
    expect(report.counts.episodes_consolidated).toBe(5);
    expect(report.facts_per_100_turns).toBe(report.facts * 20);
    const lines = consolidationLines(report).join("\n");
    expect(lines).toContain("5 turns in 1 corpora");
    expect(lines).toContain("No verdicts of a reader");
  });

  test("refuses what it cannot measure, with words", async () => {
    await expect(bench([])).rejects.toThrow("--data <file>");
    await expect(bench(["--data", join(folder, "none.json")])).rejects.toThrow("There is no data file");
    await expect(bench(["--data", file], "")).rejects.toThrow("butler model pull");
  });
});

test("verdicts count for what the extractor still says", () => {
  const judged = [
    { corpus: "c1", memory: "m1", nth: 0, hash: "aa", verdict: "right" },
    { corpus: "c1", memory: "m1", nth: 1, hash: "bb", verdict: "wrong", why: "not said" },
    { corpus: "c1", memory: "m9", nth: 0, hash: "aa", verdict: "right" },
  ];
  const file = JSON.stringify({ sets: [{ data: "talk", extractor: "local", judged }] });
  expect(readJudgements(file, "papers")).toBeUndefined();
  const kept = readJudgements(file, "talk");
  if (kept === undefined) throw new Error("the verdicts on the talk are there");
  const item = { corpus: "c1", memory: "m1" };
  const items = [
    { ...item, nth: 0, hash: "aa" },
    { ...item, nth: 1, hash: "bb" },
  ];
  expect(holdAgainst(kept, items)).toEqual({ judged: 2, right: 1, gone: 1 });
  // Other words are another item.
  expect(holdAgainst(kept, [{ ...item, nth: 0, hash: "cc" }])).toEqual({ judged: 0, right: 0, gone: 3 });
  expect(() => readJudgements('{"sets":[{"judged":[{"verdict":"perhaps"}]}]}', "talk")).toThrow();
});

test("a sample is the same for everybody, and of another seed another one", () => {
  const all = Array.from({ length: 500 }, (_, n) => n);
  expect(sampled(all)).toEqual(sampled(all));
  expect(new Set(sampled(all)).size).toBe(200);
  expect(sampled(all, 200, 7)).not.toEqual(sampled(all));
});
