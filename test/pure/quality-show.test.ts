import { describe, expect, test } from "vitest";
import { Settings } from "../../src/engine/memory/settings.ts";
import type { Asked } from "../../src/lab/quality/ask.ts";
import type { DataSet } from "../../src/lab/quality/data.ts";
import { scoresOf } from "../../src/lab/quality/metrics.ts";
import { barChart } from "../../src/lab/quality/plot.ts";
import { differenceOf, gather, reportOf } from "../../src/lab/quality/report.ts";
import { ablationLines, chartOf, runLines } from "../../src/lab/quality/show.ts";
import { FULL, variantsOf, withRerank } from "../../src/lab/quality/variants.ts";

const corpus = { id: "one", memories: [], questions: [] };
const unit = { key: "0", sessions: "one", corpus };
const data: DataSet = {
  name: "Small",
  file: "small.json",
  corpora: [corpus],
  sessions: false,
  left: { empty_questions: 2, unknown_evidence: 0, unreadable_times: 0 },
};
const at = (rank: number, category: string, ms: number): Asked => {
  const results = Array.from({ length: 50 }, (_, index) => ({ id: String(index + 1), tokens: 10 }));
  return { unit, category, scores: scoresOf({ evidence: [String(rank)], results }), ms };
};
const asking = (asked: readonly Asked[], seconds = 2) => ({
  asked,
  cpuMs: 40,
  embedMs: 10,
  seconds,
  mode: "hybrid",
  degraded: undefined,
});
const setting = {
  variant: "full",
  rerank: null,
  store: "pglite",
  model: { name: "a model", file: "a.onnx", sha256: "00" },
  index: { kind: "per corpus", memories: 1234, distractors: 0 },
  refused: 1,
  why: "too long",
} as const;
const full = [at(1, "easy", 5), at(2, "easy", 15), at(30, "hard", 10), at(99, "hard", 20)];
const worse = [at(1, "easy", 5), at(12, "easy", 15), at(30, "hard", 10), at(99, "hard", 20)];

describe("a report", () => {
  const report = reportOf(data, gather([asking(full.slice(0, 2)), asking(full.slice(2))]), setting);

  test("has the figures of all stores together", () => {
    expect(report).toMatchObject({
      name: "Small",
      n: 4,
      recall_frac: { "5": 0.5, "10": 0.5, "20": 0.5, "50": 0.75 },
      mrr: 0.3833,
      categories: { easy: { n: 2, recall_frac: { "10": 1 } }, hard: { n: 2, recall_frac: { "10": 0, "50": 0.5 } } },
      ms: { p50: 10, p95: 20, cpu: 20, embed: 5 },
      queries_per_second: 1,
      left_out: { empty_questions: 2, refused_memories: 1, why_refused: "too long" },
    });
    const [low, high] = report.ci95["recall_frac@10"];
    expect(low).toBeLessThan(0.5);
    expect(high).toBeGreaterThan(0.5);
  });

  test("is told to people with what was left out", () => {
    const text = runLines(report).join("\n");
    expect(text).toContain("Small: 4 questions, 1,234 memories in a store for each corpus");
    expect(text).toMatch(/recall_frac +50\.0 +50\.0 +50\.0 +75\.0/);
    expect(text).toMatch(/hard \(2\) +0\.0 +0\.0 +0\.0 +50\.0/);
    expect(text).toContain("2 questions have no evidence");
    expect(text).toContain("1 memories were refused (the first: too long)");
    const pooled = { ...report, index: { kind: "pool", memories: 9, distractors: 5000 }, alone: report } as const;
    expect(runLines(pooled).join("\n")).toContain("in one store beside 5,000 invented ones");
    expect(runLines(pooled).join("\n")).toContain("recall_frac if alone");
  });

  test("of an ablation compares question by question", () => {
    const difference = differenceOf(full, worse);
    expect(difference).toMatchObject({ "recall_frac@10": -0.25 });
    expect(differenceOf(full, full)).toEqual({
      "recall_frac@10": 0,
      ndcg10: 0,
      ci95: { "recall_frac@10": [0, 0], ndcg10: [0, 0] },
    });
    const other = { ...reportOf(data, asking(worse), { ...setting, variant: "without it" }), difference };
    const [head, first, second] = ablationLines([report, other], new Set(["small.json"]));
    expect(head).toMatch(/^variant +small\.json, recall_frac@10 +small\.json, nDCG@10$/);
    expect(first).toMatch(/^full +50\.0 +40\.8$/);
    expect(second).toMatch(/^without it +25\.0 {2}−25\.0 \(−\d+\.\d to [+−]\d+\.\d\) +25\.0 {2}−15\.8/);
    expect(chartOf([report, other]).groups).toMatchObject([
      {
        label: "Small",
        bars: [
          { label: "hybrid", value: 50 },
          { label: "without it", value: 25 },
        ],
      },
    ]);
  });
});

describe("variants", () => {
  const settings = Settings.parse({});

  test("begin with the full recipe, have distinct names, and leave the settings they were given alone", () => {
    const before = structuredClone(settings);
    const list = variantsOf(settings);
    expect(list[0]).toBe(FULL);
    expect(new Set(list.map(({ name }) => name)).size).toBe(list.length);
    for (const { change } of list) change.settings?.(settings);
    expect(settings).toEqual(before);
    expect(list.map(({ change }) => change.mode)).toEqual(expect.arrayContaining(["keyword", "semantic"]));
  });

  test("another reranker is set without touching the settings it came from", () => {
    expect(withRerank(settings, "none").retrieval.rerank).toBe("none");
    expect(settings.retrieval.rerank).toBe("late-interaction");
  });
});

describe("charts", () => {
  const chart = (value: number, label = "a < b & c") =>
    barChart({
      title: "Recall <10>",
      unit: "%",
      groups: [{ label: "group", bars: [{ label, value, low: 1, high: 99 }] }],
    });

  test("words in a chart are text, never markup", () => {
    const svg = chart(50);
    expect(svg).toMatch(/^<svg /);
    expect(svg).toContain("a &lt; b &amp; c");
    expect(svg).not.toContain("<10>");
    expect(svg).toMatch(/<title[ >]/);
  });

  test("a longer bar stands for a larger value", () => {
    const widths = (svg: string) => [...svg.matchAll(/width="([\d.]+)"/g)].map(([, width]) => Number(width));
    expect(widths(chart(90))).not.toEqual(widths(chart(10)));
    const grown = widths(chart(90)).map((width, index) => width - (widths(chart(10))[index] ?? 0));
    expect(Math.min(...grown)).toBeGreaterThanOrEqual(0);
  });
});
