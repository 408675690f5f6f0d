import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../src/engine/domain/lifecycle/decay.ts";
import { byRank, compositeScore, recency, settledReference } from "../../src/engine/domain/ranking/scoring.ts";

const now = new Date("2026-03-10T12:00:00Z");
const ago = (days: number) => new Date(now.getTime() - days * DAY_MS);
const share = fc.double({ min: 0, max: 1, noNaN: true });
const weights = { relevance: 0.4, importance: 0.3, recency: 0.2, confidence: 0.1 };

describe("recency", () => {
  it("halves every seven days and is one now", () => {
    expect(recency(now, now)).toBe(1);
    expect(recency(ago(7), now)).toBeCloseTo(0.5, 12);
    expect(recency(ago(21), now)).toBeCloseTo(0.125, 12);
    expect(recency(ago(-3), now)).toBe(1);
  });
});

describe("the composite score", () => {
  it("is the weighted sum, times what a rule's maturity is worth", () => {
    const signals = { relevance: 0.5, importance: 8, recency: 0.25, confidence: 0.9 };
    const sum = 0.2 + 0.24 + 0.05 + 0.09;
    expect(compositeScore(signals, weights)).toBeCloseTo(sum, 12);
    for (const [maturity, factor] of [
      ["candidate", 0.8],
      ["established", 1],
      ["proven", 1.2],
      ["anti_pattern", 1],
    ] as const)
      expect(compositeScore({ ...signals, maturity }, weights)).toBeCloseTo(sum * factor, 12);
  });

  it("stays in 0..1 for facts and episodes, and rises with each signal", () => {
    const signals = fc.record({
      relevance: share,
      importance: fc.double({ min: 0, max: 10, noNaN: true }),
      recency: share,
      confidence: share,
    });
    fc.assert(
      fc.property(signals, (s) => {
        const score = compositeScore(s, weights);
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1 + 1e-12);
        expect(compositeScore({ ...s, relevance: 1, importance: 10 }, weights)).toBeGreaterThanOrEqual(score);
      }),
    );
  });
});

describe("the order", () => {
  it("is score, then youth, then id: total, whatever the input order", () => {
    const ranked = fc.record({
      score: fc.constantFrom(0.1, 0.5, 0.9),
      created_at: fc.constantFrom(ago(1), ago(2)),
      id: fc.uuid(),
    });
    const list = fc.uniqueArray(ranked, { selector: (r) => r.id, maxLength: 12 });
    fc.assert(
      fc.property(list, fc.integer(), (items, turn) => {
        const cut = items.length === 0 ? 0 : Math.abs(turn) % items.length;
        const rotated = [...items.slice(cut), ...items.slice(0, cut)];
        expect(rotated.toSorted(byRank)).toEqual(items.toSorted(byRank));
      }),
    );
    const [a, b] = [
      { score: 1, created_at: now, id: "a" },
      { score: 1, created_at: now, id: "b" },
    ];
    expect(
      [b, a, { ...a, score: 2 }, { ...a, created_at: ago(1) }]
        .toSorted(byRank)
        .map((r) => [r.score, r.created_at, r.id]),
    ).toEqual([
      [2, now, "a"],
      [1, now, "a"],
      [1, now, "b"],
      [1, ago(1), "a"],
    ]);
  });
});

describe("a settled reference", () => {
  const created_at = ago(20);
  it.each([
    ["never read", null, null, created_at],
    ["first read today", now, null, created_at],
    ["read yesterday", ago(1), null, ago(1)],
    ["read today and before", now, ago(3), ago(3)],
    ["read earlier today", new Date("2026-03-10T00:00:00Z"), ago(3), ago(3)],
  ])("%s", (_, last_referenced_at, prior_referenced_at, expected) => {
    expect(settledReference({ last_referenced_at, prior_referenced_at, created_at }, now)).toEqual(expected);
  });
});
