import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { interval95 } from "../../src/lab/quality/interval.ts";
import { type Answer, CUTS, meanOf, meanScores, scoresOf } from "../../src/lab/quality/metrics.ts";

const listed = (ids: readonly string[], tokens = 100) => ids.map((id) => ({ id, tokens }));
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `r${index + 1}`);

describe("scores of one question, by hand", () => {
  test("two of three evidences, in places 1 and 7", () => {
    const scores = scoresOf({ evidence: ["r1", "r7", "elsewhere"], results: listed(numbered(50)) });
    expect(scores.recall_frac).toEqual({ "5": 1 / 3, "10": 2 / 3, "20": 2 / 3, "50": 2 / 3 });
    expect(scores.any).toEqual({ "5": 1, "10": 1, "20": 1, "50": 1 });
    expect(scores.all).toEqual({ "5": 0, "10": 0, "20": 0, "50": 0 });
    expect(scores.mrr).toBe(1);
    // (1 + 1/log2 8) / (1 + 1/log2 3 + 1/log2 4)
    expect(scores.ndcg10).toBeCloseTo((1 + 1 / 3) / (1 + 0.6309297536 + 0.5), 9);
    // 100 tokens each: five go into 512, ten into 1024, twenty into 2048.
    expect(scores.budget).toEqual({ "512": 1 / 3, "1024": 2 / 3, "2048": 2 / 3 });
  });

  test("found in place 12 only", () => {
    const scores = scoresOf({ evidence: ["r12"], results: listed(numbered(50)) });
    expect(scores.recall_frac).toEqual({ "5": 0, "10": 0, "20": 1, "50": 1 });
    expect(scores.all).toEqual({ "5": 0, "10": 0, "20": 1, "50": 1 });
    expect([scores.ndcg10, scores.mrr]).toEqual([0, 1 / 12]);
  });

  test("nothing came back, and evidence that the store refused", () => {
    const nothing = { recall_frac: { "5": 0, "10": 0, "20": 0, "50": 0 }, ndcg10: 0, mrr: 0 };
    expect(scoresOf({ evidence: ["a"], results: [] })).toMatchObject(nothing);
    expect(scoresOf({ evidence: [undefined], results: listed(["a"]) })).toMatchObject(nothing);
    expect(scoresOf({ evidence: ["a", undefined], results: listed(["a"]) }).recall_frac["5"]).toBe(0.5);
  });

  test("one memory that stands for two evidences counts for both, and gains once", () => {
    const scores = scoresOf({ evidence: ["a", "a", "b"], results: listed(["a", "c"]) });
    expect(scores.recall_frac["5"]).toBeCloseTo(2 / 3, 12);
    expect(scores.ndcg10).toBeCloseTo(1 / (1 + 0.6309297536), 9);
    expect(scoresOf({ evidence: ["a", "a"], results: listed(["a"]) }).ndcg10).toBe(1);
  });

  test("the first result that exceeds a budget ends it, even if a later one would fit", () => {
    const results = [
      { id: "a", tokens: 500 },
      { id: "b", tokens: 13 },
      { id: "c", tokens: 1 },
    ];
    expect(scoresOf({ evidence: ["a", "c"], results }).budget).toEqual({ "512": 0.5, "1024": 1, "2048": 1 });
    expect(scoresOf({ evidence: ["a"], results: [{ id: "a", tokens: 512 }] }).budget["512"]).toBe(1);
    expect(scoresOf({ evidence: ["a"], results: [{ id: "a", tokens: 513 }] }).budget["512"]).toBe(0);
  });

  test("more evidence than ten places: ten of it in front is perfect", () => {
    expect(scoresOf({ evidence: numbered(12), results: listed(numbered(20)) }).ndcg10).toBeCloseTo(1, 12);
  });

  test("a question without evidence is nobody's to score", () => {
    expect(() => scoresOf({ evidence: [], results: [] })).toThrow(RangeError);
  });
});

const answers = fc
  .record({
    results: fc.uniqueArray(fc.integer({ min: 0, max: 80 }), { maxLength: 50 }),
    evidence: fc.array(fc.option(fc.integer({ min: 0, max: 80 }), { nil: undefined }), { minLength: 1, maxLength: 14 }),
    tokens: fc.integer({ min: 1, max: 700 }),
  })
  .map(
    ({ results, evidence, tokens }): Answer => ({
      evidence: evidence.map((id) => (id === undefined ? undefined : String(id))),
      results: listed(results.map(String), tokens),
    }),
  );

describe("laws of scores", () => {
  test("every figure is a share, more results never find less, and all ≤ recall ≤ any", () => {
    fc.assert(
      fc.property(answers, (answer) => {
        const { recall_frac, any, all, budget, ndcg10, mrr } = scoresOf(answer);
        const figures = [recall_frac, any, all, budget].flatMap((each) => Object.values<number>(each));
        for (const figure of [...figures, ndcg10, mrr]) {
          expect(figure).toBeGreaterThanOrEqual(0);
          expect(figure).toBeLessThanOrEqual(1 + 1e-12);
        }
        for (const [index, k] of CUTS.entries()) {
          expect(all[`${k}`]).toBeLessThanOrEqual(recall_frac[`${k}`]);
          expect(recall_frac[`${k}`]).toBeLessThanOrEqual(any[`${k}`]);
          const next = CUTS[index + 1];
          if (next !== undefined) expect(recall_frac[`${next}`]).toBeGreaterThanOrEqual(recall_frac[`${k}`]);
        }
        expect(budget["512"]).toBeLessThanOrEqual(budget["1024"]);
        expect(budget["1024"]).toBeLessThanOrEqual(budget["2048"]);
      }),
    );
  });

  test("the order of the evidence does not matter; a hit that moves up never costs anything", () => {
    fc.assert(
      fc.property(answers, fc.nat(48), (answer, at) => {
        const before = scoresOf(answer);
        const { ndcg10, ...others } = scoresOf({ ...answer, evidence: answer.evidence.toReversed() });
        expect({ ...others, ndcg10: before.ndcg10 }).toEqual(before);
        // A sum in another order.
        expect(ndcg10).toBeCloseTo(before.ndcg10, 12);
        const [above, below] = [answer.results[at], answer.results[at + 1]];
        const hit = (one: typeof above) => one !== undefined && answer.evidence.includes(one.id);
        if (above === undefined || below === undefined || hit(above) || !hit(below)) return;
        const after = scoresOf({ ...answer, results: answer.results.with(at, below).with(at + 1, above) });
        expect(after.ndcg10).toBeGreaterThanOrEqual(before.ndcg10 - 1e-12);
        expect(after.mrr).toBeGreaterThanOrEqual(before.mrr);
        expect(after.recall_frac["10"]).toBeGreaterThanOrEqual(before.recall_frac["10"]);
      }),
    );
  });

  test("all evidence in front is perfect", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), (count) => {
        const perfect = scoresOf({ evidence: numbered(count), results: listed(numbered(50), 10) });
        expect(perfect).toMatchObject({ recall_frac: { "5": 1 }, all: { "5": 1 }, mrr: 1, budget: { "512": 1 } });
        expect(perfect.ndcg10).toBeCloseTo(1, 12);
      }),
    );
  });

  test("the mean of scores is the mean of each figure", () => {
    const good = scoresOf({ evidence: ["r1"], results: listed(numbered(10)) });
    const bad = scoresOf({ evidence: ["x"], results: listed(numbered(10)) });
    expect(meanScores([good, bad, bad, bad])).toMatchObject({ ndcg10: 0.25, mrr: 0.25, recall_frac: { "5": 0.25 } });
    expect(meanScores([]).ndcg10).toBe(0);
  });
});

describe("intervals", () => {
  test("hold the mean, are the same each time, and shrink with more questions", () => {
    const coins = (count: number) => Array.from({ length: count }, (_, index) => (index % 2 === 0 ? 1 : 0));
    const [low, high] = interval95(coins(100));
    expect(interval95(coins(100))).toEqual([low, high]);
    // A hundred coins: 1.96 · √(0.25 / 100) is 0.098 on either side.
    expect(low).toBeCloseTo(0.402, 1);
    expect(high).toBeCloseTo(0.598, 1);
    const [narrowLow, narrowHigh] = interval95(coins(1600));
    expect(narrowHigh - narrowLow).toBeLessThan((high - low) / 2);
    expect(interval95([])).toEqual([0, 0]);
  });

  test("lie within the values and around their mean", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 40 }), (values) => {
        const [low, high] = interval95(values);
        expect(low).toBeLessThanOrEqual(meanOf(values) + 1e-9);
        expect(high).toBeGreaterThanOrEqual(meanOf(values) - 1e-9);
        expect(low).toBeGreaterThanOrEqual(Math.min(...values) - 1e-9);
        expect(high).toBeLessThanOrEqual(Math.max(...values) + 1e-9);
      }),
      { numRuns: 30 },
    );
  });
});
