import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  earnedMaturity,
  effectiveness,
  MATURITY,
  nextMaturity,
  warningFrom,
} from "../../src/engine/domain/lifecycle/maturity.ts";
import { Settings } from "../../src/engine/memory/settings.ts";

const bars = Settings.parse({}).rules;
const evidence = fc.record({ success: fc.nat(60), harmful: fc.nat(20), ageDays: fc.nat(90) });
const LEVEL = { candidate: 0, established: 1, proven: 2, anti_pattern: -1 };

describe("effectiveness", () => {
  it("weighs harm four times", () => {
    expect(effectiveness({ success: 4, harmful: 1 })).toBe(4 / 8.01);
    expect(effectiveness({ success: 0, harmful: 0 })).toBe(0);
  });

  it("stays below one, rises with help and falls with harm", () => {
    fc.assert(
      fc.property(evidence, (e) => {
        const now = effectiveness(e);
        expect(now).toBeGreaterThanOrEqual(0);
        expect(now).toBeLessThan(1);
        expect(effectiveness({ ...e, success: e.success + 1 })).toBeGreaterThan(now);
        expect(effectiveness({ ...e, harmful: e.harmful + 1 })).toBeLessThanOrEqual(now);
      }),
    );
  });
});

describe("maturity", () => {
  it.each([
    [4, 0, 100, "candidate"],
    [5, 0, 0, "established"],
    [6, 1, 0, "candidate"],
    [7, 1, 0, "established"],
    [15, 0, 29.9, "established"],
    [15, 0, 30, "proven"],
    [15, 1, 30, "established"],
    [17, 1, 30, "proven"],
  ])("%i helpful, %i harmful, %d days: %s", (success, harmful, ageDays, expected) => {
    expect(earnedMaturity({ success, harmful, ageDays }, bars)).toBe(expected);
  });

  it("help never lowers, harm never raises, and a warning stays one", () => {
    fc.assert(
      fc.property(fc.constantFrom(...MATURITY), evidence, (current, e) => {
        const helped = nextMaturity(current, "helpful", e, bars);
        const harmed = nextMaturity(current, "harmful", e, bars);
        if (current === "anti_pattern") {
          expect([helped, harmed]).toEqual([current, current]);
          return;
        }
        expect(LEVEL[helped]).toBeGreaterThanOrEqual(LEVEL[current]);
        expect(LEVEL[harmed]).toBeLessThanOrEqual(LEVEL[current]);
        const inverted = e.harmful >= 3 && effectiveness(e) < 0.3;
        expect(harmed === "anti_pattern").toBe(inverted);
      }),
    );
  });

  it("is demoted to the highest level whose bar still holds", () => {
    expect(nextMaturity("proven", "harmful", { success: 16, harmful: 1, ageDays: 40 }, bars)).toBe("established");
    expect(nextMaturity("proven", "harmful", { success: 5, harmful: 1, ageDays: 40 }, bars)).toBe("candidate");
    expect(nextMaturity("candidate", "harmful", { success: 100, harmful: 1, ageDays: 40 }, bars)).toBe("candidate");
  });
});

describe("a warning", () => {
  it("gives each reason once, in order, and says so when there is none", () => {
    expect(warningFrom(" Deploy ", ["it broke", " ", "it broke ", "late"])).toBe(
      "Avoid: Deploy (because: it broke; late)",
    );
    expect(warningFrom("Deploy", [])).toBe("Avoid: Deploy (because: it did harm when applied)");
  });
});
