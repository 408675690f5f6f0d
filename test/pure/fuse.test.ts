import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuse, RRF_K } from "../../src/engine/domain/ranking/fuse.ts";

const ids = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,3}$/), { maxLength: 30 });

describe("reciprocal rank fusion", () => {
  it("votes 1 / (60 + rank) and scales first place everywhere to one", () => {
    expect(RRF_K).toBe(60);
    const fused = fuse([
      ["a", "b"],
      ["b", "c"],
    ]);
    const best = 2 / 61;
    expect(fused.get("a")).toBeCloseTo(1 / 61 / best, 12);
    expect(fused.get("b")).toBeCloseTo((1 / 62 + 1 / 61) / best, 12);
    expect(fused.get("c")).toBeCloseTo(1 / 62 / best, 12);
    expect(fuse([["a"], ["a"]]).get("a")).toBeCloseTo(1, 12);
  });

  it("keeps every id, stays in 0..1, and does not care about the order of the lists", () => {
    fc.assert(
      fc.property(ids, ids, (one, two) => {
        const fused = fuse([one, two]);
        expect([...fused.keys()].toSorted()).toEqual([...new Set([...one, ...two])].toSorted());
        for (const value of fused.values()) expect(value).toSatisfy((v: number) => v > 0 && v <= 1 + 1e-12);
        const turned = fuse([two, one]);
        for (const [id, value] of fused) expect(turned.get(id)).toBeCloseTo(value, 12);
      }),
    );
  });

  it("being in both lists beats the same place in one", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), (place) => {
        const others = (prefix: string) => Array.from({ length: place }, (_, n) => `${prefix}${n}`);
        const fused = fuse([
          [...others("x"), "both"],
          [...others("y"), "both"],
        ]);
        expect(fused.get("both")).toBeGreaterThan(fuse([[...others("x"), "one"], others("y")]).get("one") ?? 1);
      }),
    );
  });
});
