import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  hintConfidence,
  isHint,
  ruleConfidence,
  saidAgain,
  toldByHand,
} from "../../src/engine/domain/learning/sureness.ts";

const share = fc.double({ min: 0, max: 1, noNaN: true });
const memory = fc.record({
  confidence: share,
  metadata: fc.constantFrom(
    {},
    { learned: { by: "reader-1" } },
    { learned: { by: "reader-1", hint: true } },
    { learned: 7 },
  ),
});

describe("what is said again", () => {
  it("never falls, and never rises above the most that whoever says so is trusted with", () => {
    fc.assert(
      fc.property(memory, fc.double({ min: 0.6, max: 1, noNaN: true }), (known, most) => {
        const { confidence = known.confidence } = saidAgain(known, most, 0.2);
        expect(confidence).toBeGreaterThanOrEqual(Math.min(known.confidence, most) - 0.005);
        expect(confidence).toBeLessThanOrEqual(Math.max(known.confidence, most) + 0.005);
      }),
    );
  });

  it("is no hint any more, and nothing that was stored by hand changes", () => {
    const hint = { confidence: hintConfidence(0.2), metadata: { learned: { by: "reader-1", hint: true } } };
    expect(isHint(hint, 0.2)).toBe(true);
    for (const risen of [saidAgain(hint, 0.6, 0.2), toldByHand(hint, 0.2)])
      expect(isHint({ ...hint, ...risen }, 0.2)).toBe(false);
    expect(saidAgain({ confidence: 0.4, metadata: {} }, 1, 0.2)).toEqual({});
    expect(toldByHand({ confidence: 0.1, metadata: {} }, 0.2)).toEqual({});
  });
});

it("a hint is below the threshold of recall, whatever it is, and a rule that was learned above", () => {
  fc.assert(
    fc.property(fc.double({ min: 0.05, max: 0.4, noNaN: true }), share, (threshold, sureness) => {
      expect(hintConfidence(threshold)).toBeLessThan(threshold);
      expect(ruleConfidence(sureness)).toBeGreaterThan(0.2);
    }),
  );
});
