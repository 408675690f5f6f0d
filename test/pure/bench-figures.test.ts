/** How a benchmark judges its figures, and who speaks in what it invents. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { atOnce, least, most, spread, verdictLine } from "../../src/lab/figures.ts";
import { TURNS, turnOf } from "../../src/lab/hooks/sessions.ts";
import { recallOf, scaleVerdicts } from "../../src/lab/scale/figures.ts";
import { mixtureOf, noises } from "../../src/lab/scale/fill.ts";
import { picker, queryText } from "../../src/lab/sentences.ts";
import { PEOPLE } from "../../src/lab/vocabulary.ts";

describe("figures", () => {
  test("every percentile is a time that was measured, in order", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1 }), (times) => {
        const { count, p50, p95, max } = spread(times);
        expect(count).toBe(times.length);
        for (const figure of [p50, p95, max]) expect(times).toContain(figure);
        expect(p50).toBeLessThanOrEqual(p95);
        expect(p95).toBeLessThanOrEqual(max);
        expect(max).toBe(Math.max(...times));
      }),
    );
  });

  test("a target is met from its own value on, and unknown is neither", () => {
    expect([most("a", "ms", 35, 35).met, most("a", "ms", 35.1, 35).met, most("a", "ms", null, 35).met]).toEqual([
      true,
      false,
      null,
    ]);
    expect([least("a", "/s", 100, 100).met, least("a", "/s", 99.9, 100).met, least("a", "/s", null, 100).met]).toEqual([
      true,
      false,
      null,
    ]);
    expect(verdictLine(most("search", "ms", 36, 35))).toMatch(/^✗ search +36 ms +\(≤ 35\)$/);
    expect(verdictLine(least("rate", "/s", null, 100))).toMatch(/^\? rate +unknown \/s +\(≥ 100\)$/);
  });

  test("eight at once shall have 150 searches a second, or seven tenths of what the model alone can embed", () => {
    const model = { count: 1, p50: 1, p95: 1, max: 1 };
    const met = (searches: number, embedded: number | undefined) => {
      const at_once = { count: 1, p50: 1, p95: 1, max: 1, searchers: 8, per_second: searches, behind_ms: 0 };
      const floor = embedded === undefined ? null : { query: model, prompt: model, per_second: embedded };
      return atOnce({ at_once, floor }).met;
    };
    expect([met(150, 1_000), met(149, 1_000), met(71, 100), met(69, 100)]).toEqual([true, false, true, false]);
    expect([met(150, undefined), met(149, undefined)]).toEqual([true, false]);
  });

  test("recall is the share of the truth that was found, whatever else was found", () => {
    const ids = fc.uniqueArray(fc.integer({ min: 0, max: 40 }).map(String));
    fc.assert(
      fc.property(ids, ids, (truth, found) => {
        const recall = recallOf(truth, found);
        expect(recall).toBeGreaterThanOrEqual(0);
        expect(recall).toBeLessThanOrEqual(1);
        expect(recallOf(truth, [...found, ...truth])).toBe(1);
        expect(recall * truth.length).toBeCloseTo(
          truth.length === 0 ? 0 : truth.filter((id) => found.includes(id)).length,
        );
      }),
    );
  });

  test("a million memories may take longer to search than a hundred thousand", () => {
    const calls = {
      "search hybrid": { count: 1, p50: 70, p95: 70, max: 70, embed_p50: 1, embed_p95: 1, cpu_ms: 1, steps: {} },
    };
    const at_once = { count: 1, p50: 1, p95: 1, max: 1, searchers: 8, per_second: 1, behind_ms: 0 };
    const recall = { at: 20, queries: 50, mean: 0.98, worst: 0.9, arm_p50: 1, exact_p50: 9 };
    const storage = { total: 4000, table: 2500, toast: 0, ann_index: 1450, other_indexes: 50 };
    const machine = { cpu: "one", cores: 2, node: "20", load: 0 };
    const met = (n: number, share = 0.1) =>
      scaleVerdicts({
        ...{ n, store: "postgres", queries: 1, machine, model: "m", embedded: 1, build: null, index: "hnsw" },
        ...{ calls, at_once, storage, recall },
        row_security: {
          "search hybrid": { on: 11.5, off: 10, share },
          "store episode": { on: 11, off: 10, share: 0.1 },
        },
      }).map((verdict) => verdict.met);
    expect(met(100_000)).toEqual([false, true, true, true, true]);
    expect(met(1_000_000)).toEqual([true, true, true, true, true]);
    expect(met(1_000_000, 0.15)).toEqual([true, true, false, true, true]);
  });
});

describe("what is invented", () => {
  test("half of the sessions are talks of two people who take turns; the rest are spoken by nobody", () => {
    const sessions = Array.from({ length: 400 }, (_, s) =>
      Array.from({ length: TURNS }, (_, i) => turnOf(s * TURNS + i)),
    );
    for (const turns of sessions) {
      expect(new Set(turns.map((turn) => turn.session_id)).size).toBe(1);
      expect(turns.map((turn) => turn.ordinal)).toEqual([...Array(TURNS).keys()]);
      const speakers = turns.map((turn) => turn.speaker);
      const names = new Set(speakers);
      if (speakers[0] === undefined) expect(names.size).toBe(1);
      else {
        expect(names.size).toBe(2);
        expect(PEOPLE).toEqual(expect.arrayContaining([...names]));
        speakers.forEach((name, index) => {
          expect(name).toBe(speakers[index % 2]);
        });
      }
    }
    const spoken = sessions.filter(([first]) => first?.speaker !== undefined).length;
    expect(spoken).toBeGreaterThan(150);
    expect(spoken).toBeLessThan(250);
    expect(turnOf(12_345)).toEqual(turnOf(12_345));
  });

  test("some questions name somebody who may have spoken", () => {
    const p = picker(5);
    const named = Array.from({ length: 500 }, () => queryText(p)).filter((text) =>
      PEOPLE.some((name) => text.includes(name)),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(named.length).toBeLessThan(220);
  });

  test("a mixture takes samples of its own kind, and the first memories their own", () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(500), fc.integer({ min: 1, max: 300 }), (seed, index, count) => {
        const mixture = mixtureOf(picker(seed), index, { from: 7, count });
        const used = [mixture.first, mixture.second, mixture.third].filter((sample) => sample !== null);
        for (const sample of used) {
          expect(sample).toBeGreaterThanOrEqual(7);
          expect(sample).toBeLessThan(7 + count);
        }
        expect(used.length === 1).toBe(index < count);
        if (index < count) expect(mixture.first).toBe(7 + index);
      }),
    );
  });

  test("noise is small, of one length, and points anywhere", () => {
    const all = noises(picker(1), 384);
    for (const noise of all.slice(0, 50)) expect(Math.hypot(...noise)).toBeCloseTo(0.15, 4);
    const [a, b] = all as [Float32Array, Float32Array];
    const cosine = a.reduce((sum, x, k) => sum + x * (b[k] ?? 0), 0) / 0.15 ** 2;
    expect(Math.abs(cosine)).toBeLessThan(0.2);
  });
});
