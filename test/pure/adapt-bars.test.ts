/** The laws of learning from use: what people do with what was learned moves the bars, a little, and never too far. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  adaptBars,
  adaptedBar,
  barsInForce,
  type Example,
  WEIGHTS,
} from "../../src/engine/domain/learning/adapt-bars.ts";
import { BAR, KINDS } from "../../src/engine/domain/learning/kinds.ts";

const kind = fc.constantFrom(...KINDS);
const judgement = fc.constantFrom(...(Object.keys(WEIGHTS) as Example["judgement"][]));
const example = fc.record({ kind, judgement });
const amount = fc.double({ min: 0, max: 1e6, noNaN: true });
const many = (n: number, of: Example["judgement"], what: Example["kind"] = "rule"): Example[] =>
  Array.from({ length: n }, () => ({ kind: what, judgement: of }));

describe("a bar", () => {
  it("stays within its bounds, however many examples there are", () => {
    fc.assert(
      fc.property(kind, amount, amount, (of, wanted, unwanted) => {
        const bar = adaptedBar(BAR[of], { wanted, unwanted });
        expect(bar).toBeGreaterThanOrEqual(BAR[of] - 0.1 - 1e-9);
        expect(bar).toBeLessThanOrEqual(BAR[of] + 0.2 + 1e-9);
      }),
    );
  });

  it("rises with what was not wanted and falls with what was", () => {
    fc.assert(
      fc.property(kind, amount, amount, amount, (of, wanted, unwanted, more) => {
        const bar = adaptedBar(BAR[of], { wanted, unwanted });
        expect(adaptedBar(BAR[of], { wanted, unwanted: unwanted + more })).toBeGreaterThanOrEqual(bar);
        expect(adaptedBar(BAR[of], { wanted: wanted + more, unwanted })).toBeLessThanOrEqual(bar);
      }),
    );
  });

  it("is the shipped one without examples, and with as much for as against", () => {
    expect(barsInForce(adaptBars([]))).toEqual(BAR);
    fc.assert(fc.property(kind, amount, (of, n) => adaptedBar(BAR[of], { wanted: n, unwanted: n }) === BAR[of]));
  });

  it("moves little for one example and most of the way for ten", () => {
    const moved = (examples: Example[]) => adaptBars(examples).rule.bar - BAR.rule;
    expect(moved(many(1, "forgotten"))).toBeCloseTo(0.033, 3);
    expect(moved(many(10, "forgotten"))).toBeCloseTo(0.133, 3);
    expect(moved(many(1, "confirmed"))).toBeCloseTo(-0.017, 3);
    expect(moved(many(10, "confirmed"))).toBeCloseTo(-0.067, 3);
    expect(moved(many(2, "edited"))).toBe(moved(many(1, "forgotten")));
  });
});

describe("examples", () => {
  it("count in any order, and only for their kind", () => {
    fc.assert(
      fc.property(fc.array(example, { maxLength: 60 }), kind, (examples, of) => {
        const adapted = adaptBars(examples);
        expect(adaptBars(examples.toReversed())).toEqual(adapted);
        expect(adaptBars(examples.filter((one) => one.kind === of))[of]).toEqual(adapted[of]);
        expect(KINDS.reduce((sum, one) => sum + adapted[one].examples, 0)).toBe(examples.length);
      }),
    );
  });

  it("each speak for or against, never both", () => {
    for (const { wanted, unwanted } of Object.values(WEIGHTS)) {
      expect(Math.min(wanted, unwanted)).toBe(0);
      expect(wanted + unwanted).toBeGreaterThan(0);
      expect(wanted + unwanted).toBeLessThanOrEqual(1);
    }
  });
});
