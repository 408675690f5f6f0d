/** Which months have a part, which are missing, and from where on dividing pays. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { uuidv7Source } from "../../src/engine/adapters/ids.ts";
import {
  addMonths,
  coveredUntil,
  firstBoundary,
  firstIdOf,
  isNear,
  MONTHS_AHEAD,
  missingMonths,
  monthOf,
  PAYS_FROM,
  type Part,
  partName,
  partOf,
  pastParts,
  pays,
  timeOfId,
} from "../../src/engine/domain/partitions.ts";

const time = fc.date({ min: new Date("2020-01-01"), max: new Date("2100-01-01"), noInvalidDate: true });
const part = (from: string | null, to: string | null): Part => ({
  ...{ name: `p_${from}`, rest: false },
  from: from === null ? null : new Date(from),
  to: to === null ? null : new Date(to),
});
const REST: Part = { name: "rest", from: null, to: null, rest: true };

describe("parts of a table", () => {
  it("an id lies where its time does", () => {
    const ids = uuidv7Source();
    fc.assert(
      fc.property(time, time, (at, other) => {
        const id = ids.next(at);
        expect(timeOfId(id)).toEqual(at);
        expect(id >= firstIdOf(other)).toBe(at >= other);
        expect(firstIdOf(monthOf(at)) <= id && id < firstIdOf(addMonths(monthOf(at), 1))).toBe(true);
      }),
    );
  });

  it("reads bounds as PostgreSQL writes them", () => {
    const [march, april] = [new Date("2026-03-01"), new Date("2026-04-01")];
    const bound = `FOR VALUES FROM ('${firstIdOf(march)}') TO ('${firstIdOf(april)}')`;
    expect(partOf("a", bound)).toEqual({ name: "a", from: march, to: april, rest: false });
    expect(partOf("b", `FOR VALUES FROM (MINVALUE) TO ('${firstIdOf(april)}')`)).toEqual({
      ...{ name: "b", from: null, to: april, rest: false },
    });
    expect(partOf("c", "DEFAULT")).toEqual({ ...REST, name: "c" });
    expect(partName("episodes", march)).toBe("episodes_2026_03");
  });

  it("knows what is covered, what is missing and what is over", () => {
    const now = new Date("2026-03-10T12:00:00Z");
    const parts = [part("2026-05-01", "2026-06-01"), part(null, "2026-04-01"), REST];
    expect(coveredUntil(parts, now)).toEqual(new Date("2026-04-01"));
    expect(coveredUntil([...parts, part("2026-04-01", "2026-05-01")], now)).toEqual(new Date("2026-06-01"));
    expect(coveredUntil([REST], now)).toEqual(now);
    expect(missingMonths(parts, now)).toEqual([new Date("2026-04-01"), new Date("2026-06-01")]);
    expect(missingMonths([REST], now)).toHaveLength(MONTHS_AHEAD + 1);
    expect(pastParts(parts, new Date("2026-04-30"))).toEqual([]);
    expect(pastParts(parts, new Date("2026-05-01"))).toEqual([part(null, "2026-04-01")]);
  });

  it("what is made ahead leaves nothing missing, and covers three months from any day on", () => {
    fc.assert(
      fc.property(time, (now) => {
        const made = missingMonths([REST], now).map((from) => ({ ...REST, rest: false, from, to: addMonths(from, 1) }));
        expect(missingMonths(made, now)).toEqual([]);
        expect(coveredUntil(made, now)).toEqual(addMonths(monthOf(now), MONTHS_AHEAD + 1));
      }),
    );
  });

  it("the first boundary is a month's beginning beyond every row, and not near", () => {
    const ids = uuidv7Source();
    fc.assert(
      fc.property(time, time, (now, latest) => {
        const boundary = firstBoundary(now, ids.next(latest));
        expect(boundary).toEqual(monthOf(boundary));
        expect(boundary > now && boundary > latest).toBe(true);
        expect(isNear(boundary, now)).toBe(false);
      }),
    );
  });

  it("pays by rows or by bytes", () => {
    const { rows, bytes } = PAYS_FROM.episodes;
    expect(pays("episodes", { rows: rows - 1, bytes: bytes - 1 })).toBe(false);
    expect(pays("episodes", { rows, bytes: 0 })).toBe(true);
    expect(pays("episodes", { rows: 0, bytes })).toBe(true);
  });
});
