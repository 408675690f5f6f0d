import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { areNearDuplicates, overlap } from "../../src/engine/domain/lifecycle/near-duplicates.ts";

describe("near-duplicates", () => {
  test.each([
    ["Ada likes green tea in the morning", "Ada likes green tea in the mornings."],
    ["The release is on 5 May", "the release is on 5 May!"],
    ["Grace doesn't eat meat", "Grace does not eat meat"],
  ])("%j and %j say the same", (a, b) => {
    expect(areNearDuplicates(a, b, 0.98)).toBe(true);
    expect(areNearDuplicates(b, a, 0.98)).toBe(true);
    expect(areNearDuplicates(a, b, 0.96)).toBe(false);
  });

  test.each([
    ["The meeting is at 5", "The meeting is at 6"],
    ["Use port 4270 for the owner", "Use port 4271 for the owner"],
    ["Grace eats meat", "Grace does not eat meat"],
    ["The parser must accept tabs", "The parser must never accept tabs"],
    ["Ada likes green tea", "Coffee is what Ada drinks at work"],
  ])("%j and %j do not, however alike a model finds them", (a, b) => {
    expect(areNearDuplicates(a, b, 0.999)).toBe(false);
  });

  test("overlap is symmetric, 1 for the same words and 0 for none in common", () => {
    expect(overlap("green tea", "tea, green")).toBe(1);
    expect(overlap("green tea", "black coffee")).toBe(0);
    expect(overlap("", "")).toBe(0);
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const both = overlap(a, b);
        expect(both).toBe(overlap(b, a));
        expect(both).toBeGreaterThanOrEqual(0);
        expect(both).toBeLessThanOrEqual(1);
      }),
    );
  });
});
