/** `butler bench intent` from its words to its figures, small, with the real model. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../../src/lab/bench.ts";
import { changeOf, placeFigures } from "../../src/lab/intent/measure.ts";
import { ASKED, MOST_PROMPTS, worldOf } from "../../src/lab/intent/memories.ts";
import { type IntentReport, intentLines, verdict } from "../../src/lab/intent/show.ts";
import { readEnvironment } from "../../src/main/environment.ts";
import { TEST_MODEL_CACHE, testModel } from "../support/model.ts";

const folder = mkdtempSync(join(tmpdir(), "bi-"));
beforeAll(() => testModel());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function bench(args: readonly string[], modelDir = TEST_MODEL_CACHE): Promise<string> {
  const said: string[] = [];
  const environment = readEnvironment({ BUTLER_HOME: join(folder, "home"), BUTLER_MODEL_DIR: modelDir });
  expect(await run(["intent", ...args], { environment, say: (line) => said.push(line), note: () => {} })).toBe(0);
  return said.join("\n");
}

describe("butler bench intent", () => {
  test("asks every prompt with and without", async () => {
    const report = JSON.parse(await bench(["--prompts", "2", "--json"])) as IntentReport;
    expect(report).toMatchObject({ prompts: 8, facts: 40, rules: 14, episodes: 80 });
    for (const intent of ASKED) {
      const { right, unsure, wrong } = report.read[intent];
      expect(right + unsure + wrong).toBe(2);
      expect(report.routing[intent].mrr.on).toBe(report.found.both[intent].mrr);
      expect(report.routing[intent].mrr.off).toBe(report.found["no routing"][intent].mrr);
      expect(report.diversification[intent].mrr.off).toBe(report.found["no diversification"][intent].mrr);
    }
    expect(report.found.both.all.block_600).toBeGreaterThan(0);
    expect(report.found.both.all.mrr).not.toBe(report.found["no routing"].all.mrr);
    expect(intentLines(report).join("\n")).toContain("8 prompts to 134 invented memories");
  });

  test("refuses what it cannot measure, with words", async () => {
    await expect(bench(["--prompts", `${MOST_PROMPTS + 1}`])).rejects.toThrow(`words for ${MOST_PROMPTS}`);
    await expect(bench([], "")).rejects.toThrow("butler model pull");
    await expect(bench(["--store", "postgres"])).rejects.toThrow("--store");
  });
});

test("every prompt has its one answer among the memories, and every key is told once", () => {
  const { memories, prompts } = worldOf(MOST_PROMPTS);
  const keys = new Set(memories.map(({ key }) => key));
  expect(keys.size).toBe(memories.length);
  expect(prompts).toHaveLength(4 * MOST_PROMPTS);
  expect(prompts.filter(({ answer }) => !keys.has(answer))).toEqual([]);
  expect(prompts.filter(({ text }) => /[{}]|^$/.test(text))).toEqual([]);
});

test("a change is better or worse only where chance is ruled out", () => {
  expect(placeFigures(0)).toEqual({ mrr: 0, recall_5: 0, recall_10: 0 });
  expect(placeFigures(6)).toEqual({ mrr: 1 / 6, recall_5: 0, recall_10: 1 });
  expect(verdict(changeOf([0, 0, 0, 0], [1, 1, 1, 1]))).toBe("better: 4 up, 0 down");
  expect(verdict(changeOf([1, 1, 1, 1], [0, 0, 0, 0]))).toBe("worse: 0 up, 4 down");
  expect(verdict(changeOf([0, 1, 0, 1], [1, 0, 0, 1]))).toBe("no difference shown: 1 up, 1 down");
  expect(verdict(changeOf([0.5, 1], [0.5, 1]))).toBe("the same");
});
