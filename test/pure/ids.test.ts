import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { uuidv7Source } from "../../src/engine/adapters/ids.ts";

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const timeOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

describe("ids", () => {
  it("are version 7 and carry their millisecond", () => {
    const ids = uuidv7Source();
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }), (at) => {
        const id = ids.next(at);
        expect(id).toMatch(V7);
        expect(timeOf(id)).toBe(at.getTime());
      }),
    );
  });

  it("2,048 of one millisecond are unique and in order", () => {
    const at = new Date("2026-03-01T12:00:00Z");
    for (let round = 0; round < 5; round++) {
      const ids = uuidv7Source();
      const made = Array.from({ length: 2048 }, () => ids.next(at));
      expect(new Set(made).size).toBe(2048);
      expect(made.toSorted()).toEqual(made);
    }
  });

  it("stay unique when time stands still for long, even with the worst luck at the start", () => {
    const at = new Date("2026-03-01T12:00:00Z");
    const ids = uuidv7Source();
    const made = new Set(Array.from({ length: 20_000 }, () => ids.next(at)));
    expect(made.size).toBe(20_000);
  });

  it("sort by time", () => {
    const ids = uuidv7Source();
    const [early, late] = [ids.next(new Date(1000)), ids.next(new Date(1001))];
    expect(early < late).toBe(true);
  });

  it("keep the order of each moment while callers of several moments take turns", () => {
    const ids = uuidv7Source();
    const [early, late] = [new Date("2026-03-01T12:00:00Z"), new Date("2026-06-01T12:00:00Z")];
    const made = Array.from({ length: 5_000 }, () => [ids.next(early), ids.next(late)] as const);
    for (const at of [0, 1] as const) {
      const mine = made.map((pair) => pair[at]);
      expect(mine).toEqual(mine.toSorted());
    }
  });
});
