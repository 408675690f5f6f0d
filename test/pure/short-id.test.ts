import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { uuidv7Source } from "../../src/engine/adapters/ids.ts";
import { plainShortId, rangesOf, shortId } from "../../src/engine/domain/short-id.ts";

const time = fc.date({ min: new Date("2000-01-01"), max: new Date("2099-12-31"), noInvalidDate: true });
const isWithin = (id: string, ranges: readonly { from: string; to: string }[]) =>
  ranges.some(({ from, to }) => from <= id && id <= to);

describe("short ids", () => {
  it("are eight characters that lead back to a range with the id in it", () => {
    const ids = uuidv7Source();
    fc.assert(
      fc.property(time, time, time, (a, b, c) => {
        const [oldest, id, newest] = [a, b, c].map((at) => ids.next(at)).toSorted() as [string, string, string];
        const short = shortId(id);
        expect(short).toMatch(/^[0-9a-hjkmnp-tv-z]{8}$/);
        const ranges = rangesOf(short, oldest, newest);
        expect(isWithin(id, ranges)).toBe(true);
        expect(ranges.every(({ from }) => shortId(from) === short)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("tell apart all that a process makes in a millisecond, and over three days", () => {
    const ids = uuidv7Source();
    const at = Date.parse("2026-05-01T09:30:00Z");
    const made = Array.from({ length: 20_000 }, (_, n) => ids.next(new Date(at + (n % 4) * 86_000_000)));
    expect(new Set(made.map(shortId)).size).toBe(made.length);
  });

  it("of one moment are not alike", () => {
    const ids = uuidv7Source();
    const [a, b] = [shortId(ids.next(new Date(0))), shortId(ids.next(new Date(0)))];
    expect([...a].filter((digit, at) => digit === b[at]).length).toBeLessThan(5);
  });

  it("are read in any case, and with look-alike letters", () => {
    const ids = uuidv7Source();
    fc.assert(
      fc.property(time, (at) => {
        const short = shortId(ids.next(at));
        expect(plainShortId(short.toUpperCase())).toBe(short);
        expect(plainShortId(` ${short.replaceAll("0", "O").replaceAll("1", "l")} `)).toBe(short);
      }),
    );
    for (const wrong of ["", "k3v9q2a", "k3v9q2abc", "k3v9q2au", "k3v9-2ab", "0198c0de-1234-7abc-8def-0123456789ab"])
      expect(plainShortId(wrong)).toBeUndefined();
  });

  it("look at few ranges: 118 for a year", () => {
    const ids = uuidv7Source();
    const [old, young] = [ids.next(new Date("2026-01-01")), ids.next(new Date("2027-01-01"))];
    expect(rangesOf(shortId(young), old, young).length).toBeLessThan(120);
  });
});
