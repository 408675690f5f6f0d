import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  confidentUntil,
  DAY_MS,
  DECAY_PER_DAY,
  effectiveConfidence,
  PERMANENCE,
} from "../../src/engine/domain/lifecycle/decay.ts";

const at = new Date("2026-03-01T12:00:00Z");
const days = (n: number) => new Date(at.getTime() + n * DAY_MS);
const share = fc.double({ min: 0, max: 1, noNaN: true });

describe("effective confidence", () => {
  it.each([
    ["permanent", 10_000, 1],
    ["stable", 365, Math.exp(-0.73)],
    ["standard", 90, Math.exp(-0.72)],
    ["volatile", 21, Math.exp(-0.63)],
    ["ephemeral", 7, Math.exp(-0.7)],
  ] as const)("of a %s memory after %i days is %d", (permanence, n, expected) => {
    const fading = { confidence: 1, decay_rate: DECAY_PER_DAY[permanence], last_confirmed_at: at };
    expect(effectiveConfidence(fading, days(n))).toBeCloseTo(expected, 12);
  });

  it("starts at the confidence, never rises and never leaves 0..1", () => {
    fc.assert(
      fc.property(share, fc.constantFrom(...PERMANENCE), fc.nat(5000), fc.nat(5000), (confidence, permanence, a, b) => {
        const fading = { confidence, decay_rate: DECAY_PER_DAY[permanence], last_confirmed_at: at };
        const [early, late] = [
          effectiveConfidence(fading, days(Math.min(a, b))),
          effectiveConfidence(fading, days(Math.max(a, b))),
        ];
        expect(effectiveConfidence(fading, at)).toBe(confidence);
        expect(late).toBeLessThanOrEqual(early);
        expect(late).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it("does not rise above its start when the clock goes back", () => {
    expect(effectiveConfidence({ confidence: 0.7, decay_rate: 0.1, last_confirmed_at: at }, days(-5))).toBe(0.7);
  });
});

describe("confidentUntil", () => {
  it("agrees with the gate a moment before and after", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.21, max: 1, noNaN: true }),
        fc.constantFrom(0.002, 0.008, 0.03, 0.1),
        (confidence, decay_rate) => {
          const fading = { confidence, decay_rate, last_confirmed_at: at };
          const until = confidentUntil(fading, 0.2) as Date;
          expect(effectiveConfidence(fading, new Date(until.getTime() - 1000))).toBeGreaterThanOrEqual(0.2);
          expect(effectiveConfidence(fading, new Date(until.getTime() + 1000))).toBeLessThan(0.2);
        },
      ),
    );
  });

  it("is never for what does not fade, and at once for what is too faint", () => {
    expect(confidentUntil({ confidence: 1, decay_rate: 0, last_confirmed_at: at }, 0.2)).toBeUndefined();
    expect(confidentUntil({ confidence: 1, decay_rate: 0.1, last_confirmed_at: at }, 0)).toBeUndefined();
    expect(confidentUntil({ confidence: 0.1, decay_rate: 0, last_confirmed_at: at }, 0.2)).toEqual(at);
    const atTheGate = { confidence: 0.2, decay_rate: 0.1, last_confirmed_at: at };
    expect(confidentUntil(atTheGate, 0.2)?.getTime()).toBeGreaterThan(at.getTime());
  });
});
