import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryError } from "../../src/engine/domain/errors.ts";
import type { Trust } from "../../src/engine/domain/learning/trust.ts";
import { isLive, mayHappen, next, type Transition, VALIDITY } from "../../src/engine/domain/lifecycle/lifecycle.ts";
import { judgeFact } from "../../src/engine/domain/lifecycle/supersede.ts";

const HAPPENINGS: Transition[] = ["confirm", "fade", "expire", "supersede", "retract", "restore"];

describe("the lifecycle", () => {
  it("is this table and nothing else", () => {
    const table = VALIDITY.map((state) => [
      state,
      ...HAPPENINGS.map((happening) => (mayHappen(state, happening) ? next(state, happening) : "-")),
    ]);
    expect(table).toEqual([
      ["active", "active", "fading", "expired", "superseded", "retracted", "-"],
      ["fading", "active", "-", "expired", "superseded", "retracted", "-"],
      ["superseded", "-", "-", "-", "-", "retracted", "-"],
      ["expired", "-", "-", "-", "-", "retracted", "active"],
      ["retracted", "-", "-", "-", "-", "-", "active"],
    ]);
  });

  it("refuses every other way with integrity, in words", () => {
    fc.assert(
      fc.property(fc.constantFrom(...VALIDITY), fc.constantFrom(...HAPPENINGS), (state, happening) => {
        if (mayHappen(state, happening)) return;
        expect(() => next(state, happening)).toThrow(MemoryError);
        expect(() => next(state, happening)).toThrow(`a memory that is ${state} cannot ${happening}`);
      }),
    );
  });

  it("confirm and restore always end in active; only active and fading are live", () => {
    for (const state of VALIDITY) {
      if (mayHappen(state, "confirm")) expect(next(state, "confirm")).toBe("active");
      if (mayHappen(state, "restore")) expect(next(state, "restore")).toBe("active");
      expect(mayHappen(state, "restore") && isLive(state)).toBe(false);
    }
    expect(VALIDITY.filter(isLive)).toEqual(["active", "fading"]);
  });
});

describe("a newly told fact", () => {
  const now = new Date("2026-03-01T12:00:00Z");
  const holder = (content: string, valid_to: string | null = null, trust: Trust = "agent") => ({
    content,
    trust,
    valid_to: valid_to === null ? null : new Date(valid_to),
    corroborated_at: null,
  });
  const told = (content: string, validTo?: string, trust: Trust = "agent") => ({
    content,
    trust,
    valid_to: validTo === undefined ? null : new Date(validTo),
    corroborated_at: null,
  });
  it.each([
    ["nobody holds the key", told("Berlin"), undefined, "create"],
    ["the holder says the same", told("berlin."), holder("Berlin"), "confirm"],
    ["the holder says something else", told("Bonn"), holder("Berlin"), "supersede"],
    ["a word more is something else", told("not Berlin"), holder("Berlin"), "supersede"],
    ["it has already ended", told("Rome", "2020-01-01"), holder("Berlin"), "history"],
    ["it ends this moment", told("Rome", "2026-03-01T12:00:00Z"), undefined, "history"],
    ["it ends later", told("Berlin", "2027-01-01"), holder("Berlin"), "confirm"],
    ["the holder's time is over", told("Berlin"), holder("Berlin", "2026-02-01"), "supersede"],
    ["the holder's time is not over", told("Berlin"), holder("Berlin", "2026-04-01"), "confirm"],
    ["a lesser source says the same", told("berlin"), holder("Berlin", null, "user"), "echo"],
    ["a lesser source says something else", told("Bonn"), holder("Berlin", null, "user"), "contradict"],
    ["a better source says something else", told("Bonn", undefined, "user"), holder("Berlin"), "supersede"],
    ["a tool says something else", told("Bonn", undefined, "tool"), holder("Berlin"), "contradict"],
    ["a lesser source when its time is over", told("Bonn"), holder("Berlin", "2026-02-01", "user"), "supersede"],
  ] as const)("%s", (_, fact, live, verdict) => {
    expect(judgeFact(fact, live, now)).toBe(verdict);
  });
});
