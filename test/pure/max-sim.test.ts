import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ASSEMBLED, matcher as matchInto, type QueryToken } from "../../src/engine/domain/ranking/max-sim.ts";
import { assemble } from "../support/assembler.ts";

const token = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });
const joined = (tokens: readonly Uint8Array[]) => new Uint8Array(tokens.flatMap((one) => [...one]));
const asked = (tokens: readonly Uint8Array[]): QueryToken[] => tokens.map((bits) => ({ bits, weight: 1 }));

function matcher(query: readonly QueryToken[]): (tokens: Uint8Array) => Float64Array {
  const match = matchInto(query);
  return (tokens) => {
    const made = new Float64Array(query.length);
    match(tokens, made, 0);
    return made;
  };
}

/** Bit by bit, as the header of the module says it. */
function naive(query: readonly Uint8Array[], stored: readonly Uint8Array[]): number[] {
  return query.map((q) => {
    let best = 0;
    for (const x of stored) {
      let differ = 0;
      q.forEach((byte, at) => {
        for (let bit = 0; bit < 8; bit++) if (((byte ^ (x[at] as number)) >> bit) & 1) differ++;
      });
      best = Math.max(best, Math.sin((Math.PI / 2) * (1 - (2 * differ) / (q.length * 8))));
    }
    return best;
  });
}

const close = (made: Float64Array, expected: readonly number[]) => {
  expect(made).toHaveLength(expected.length);
  expected.forEach((value, at) => {
    expect(made[at]).toBeCloseTo(value, 12);
  });
};

const texts = fc
  .constantFrom(8, 16, 48)
  .chain((size) =>
    fc.tuple(fc.array(token(size), { minLength: 1 }), fc.array(fc.array(token(size)), { maxLength: 5 })),
  );

describe("the best match of each query token", () => {
  it("is what a naive count of bits gives, and lies in 0..1", () => {
    fc.assert(
      fc.property(texts, ([query, memories]) => {
        const match = matcher(asked(query));
        for (const memory of memories) {
          const made = match(joined(memory));
          close(made, naive(query, memory));
          for (const value of made) expect(value >= 0 && value <= 1).toBe(true);
        }
      }),
    );
  });

  it("is 1 for itself, 0 for its opposite, and grows with more tokens only", () => {
    fc.assert(
      fc.property(fc.array(token(48), { minLength: 1, maxLength: 4 }), fc.array(token(48)), (query, others) => {
        const match = matcher(asked(query));
        expect([...match(joined([...others, ...query]))]).toEqual(query.map(() => 1));
        const [first = new Uint8Array(48)] = query;
        expect(matcher(asked([first]))(first.map((byte) => ~byte))[0]).toBe(0);
        const few = match(joined(others.slice(1)));
        match(joined(others)).forEach((value, at) => {
          expect(value).toBeGreaterThanOrEqual(few[at] as number);
        });
      }),
    );
  });

  it("is the same for a view into other bytes, and the bytes stay as they were", () => {
    fc.assert(
      fc.property(fc.array(token(8), { minLength: 1 }), fc.array(token(8)), fc.nat(13), (query, memory, offset) => {
        const bytes = joined(memory);
        const around = new Uint8Array(bytes.length + offset + 5).fill(0xaa);
        around.set(bytes, offset);
        const before = around.slice();
        const made = matcher(asked(query))(around.subarray(offset, offset + bytes.length));
        close(made, naive(query, memory));
        expect(around).toEqual(before);
      }),
    );
  });
});

describe("matchers", () => {
  it("are used in turns, of one size or of several, and their answers stay", () => {
    fc.assert(
      fc.property(
        fc.array(texts, { minLength: 2, maxLength: 4 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        (all, turns) => {
          const matchers = all.map(([query]) => matcher(asked(query)));
          const answers: [Float64Array, number[]][] = [];
          for (const [at, turn] of turns.entries()) {
            const which = turn % all.length;
            const [query, memories] = all[which] as [Uint8Array[], Uint8Array[][]];
            const memory = memories[at % Math.max(1, memories.length)] ?? [];
            const made = matchers[which]?.(joined(memory)) ?? new Float64Array(0);
            answers.push([made, naive(query, memory)]);
          }
          for (const [made, expected] of answers) close(made, expected);
        },
      ),
    );
  });

  it("take a memory larger than what was reserved, and go on with small ones", () => {
    const at = (seed: number) => Uint8Array.from({ length: 48 }, (_, i) => (seed * 31 + i * 7 * (seed + 1)) % 256);
    const query = [at(1), at(2)];
    const match = matcher(asked(query));
    const other = matcher(asked([at(3)]));
    const small = [at(4), at(5)];
    const expected = naive(query, small);
    close(match(joined(small)), expected);
    const large = new Uint8Array(3 * 1024 * 1024 - ((3 * 1024 * 1024) % 48)).fill(0x55);
    large.set(at(2), large.length - 48);
    const [of1, of2] = match(large);
    expect(of2).toBe(1);
    expect(of1).toBeCloseTo(Math.max(...naive([at(1)], [new Uint8Array(48).fill(0x55), at(2)])), 12);
    close(other(joined(small)), naive([at(3)], small));
    close(match(joined(small)), expected);
  });

  it("of nothing, and of nothing to compare with, find nothing", () => {
    expect(matcher([])(new Uint8Array(48))).toEqual(new Float64Array(0));
    expect(matcher(asked([new Uint8Array(48)]))(new Uint8Array(0))).toEqual(new Float64Array(1));
  });

  it("refuse tokens that are no whole words of 64 bits", () => {
    expect(() => matcher(asked([new Uint8Array(12)]))).toThrow(RangeError);
  });
});

it("runs the bytes that max-sim.wat assembles to", () => {
  const source = new URL("../../src/engine/domain/ranking/max-sim.wat", import.meta.url);
  expect(Buffer.from(assemble(readFileSync(source, "utf8"))).toString("base64")).toBe(ASSEMBLED);
});
