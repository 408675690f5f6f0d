import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keptPieces, signBits, wholeWords } from "../../src/engine/domain/ranking/token-bits.ts";
import { STOP_WORDS } from "../../src/engine/domain/text/stop-words.ts";

const piece = fc.oneof(
  fc.constantFrom("the", "it", "s", "tea", "house", "##s", "##the", "7", "##42", "?", "##-", "'", "[UNK]", "茶"),
  fc.string({ minLength: 1, maxLength: 6 }),
);
const WIDTH = 16;
const bitAt = (bits: Uint8Array, token: number, k: number) =>
  ((bits[token * (WIDTH / 8) + (k >> 3)] ?? 0) >> (k & 7)) & 1;
// Multiples of 1/64, none of them 0: drawn floats are mostly too small to tell from nothing.
const number = fc.integer({ min: -256, max: 256 }).map((n) => (n === 0 ? 1 : n) / 64);
const row = fc.array(number, { minLength: WIDTH, maxLength: WIDTH });
const mean = fc.array(number, { minLength: WIDTH, maxLength: WIDTH }).map((m) => Float32Array.from(m, (x) => x / 16));

describe("the pieces that are kept", () => {
  const kept = (...pieces: string[]) => keptPieces(pieces).map((at) => pieces[at]);

  it("are neither punctuation nor stop words that stand alone", () => {
    expect(kept("who", "plays", "the", "harp", "##s", "?", "-", "7")).toEqual(["plays", "harp", "##s", "7"]);
    // The end of a word is no stop word, though it may be spelled like one.
    expect(kept("zanzibar", "##the", "##-")).toEqual(["zanzibar", "##the"]);
    expect(kept("不", "é", "…")).toEqual(["不", "é"]);
  });

  it("are all when none is telling", () => {
    expect(kept("who", "is", "it", "?")).toEqual(["who", "is", "it", "?"]);
    expect(kept()).toEqual([]);
  });

  it("come in order, and adding a stop word or a mark anywhere keeps the others", () => {
    fc.assert(
      fc.property(fc.array(piece), fc.constantFrom(...STOP_WORDS, ".", "##!"), fc.nat(), (pieces, dull, seed) => {
        const places = keptPieces(pieces);
        expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b));
        expect(places.length === 0).toBe(pieces.length === 0);
        const telling = ["tea", ...pieces];
        const more = telling.toSpliced(seed % (telling.length + 1), 0, dull);
        expect(keptPieces(more).map((at) => more[at])).toEqual(keptPieces(telling).map((at) => telling[at]));
      }),
    );
  });
});

describe("whole words", () => {
  it("are joined from their pieces and stand at each of them", () => {
    expect(wholeWords(["un", "##happi", "##ly", "so"])).toEqual(["unhappily", "unhappily", "unhappily", "so"]);
    expect(wholeWords(["##ly", "##so"])).toEqual(["##lyso", "##lyso"]);
    expect(wholeWords([])).toEqual([]);
  });

  it("give back the text, each taken once", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.stringMatching(/^[a-z]{1,4}$/), { minLength: 1, maxLength: 4 })), (words) => {
        const pieces = words.flatMap(([first = "", ...rest]) => [first, ...rest.map((part) => `##${part}`)]);
        expect(wholeWords(pieces)).toEqual(words.flatMap((word) => word.map(() => word.join(""))));
      }),
    );
  });
});

describe("sign bits", () => {
  it("are little-endian, and a zero is not positive", () => {
    const states = new Float32Array(WIDTH);
    states[0] = 1;
    states[9] = 2;
    states[15] = -3;
    expect([...signBits(states, new Float32Array(WIDTH), [0])]).toEqual([0b0000_0001, 0b0000_0010]);
  });

  it("say for every kept token and dimension whether its state of length 1 lies above the mean", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(row, fc.boolean()), { maxLength: 5 }), mean, (drawn, mu) => {
        const rows = drawn.map(([states]) => states);
        const tokens = drawn.flatMap(([, kept], at) => (kept ? [at] : []));
        const bits = signBits(Float32Array.from(rows.flat()), mu, tokens);
        expect(bits).toHaveLength((tokens.length * WIDTH) / 8);
        for (const [at, token] of tokens.entries()) {
          const states = rows[token] ?? [];
          const above = states.map((x, k) => (x / Math.hypot(...states) > (mu[k] ?? 0) ? 1 : 0));
          expect(above.map((_, k) => bitAt(bits, at, k))).toEqual(above);
        }
      }),
    );
  });

  it("do not depend on the length of a state, nor on the other tokens", () => {
    fc.assert(
      fc.property(row, row, mean, fc.constantFrom(0.5, 2, 8), (one, other, mu, times) => {
        const alone = signBits(Float32Array.from(one), mu, [0]);
        const longer = Float32Array.from([...other, ...one.map((x) => x * times)]);
        expect(signBits(longer, mu, [1])).toEqual(alone);
      }),
    );
  });

  it("turn around with the state when there is no mean", () => {
    const none = new Float32Array(WIDTH);
    fc.assert(
      fc.property(row, (one) => {
        const there = signBits(Float32Array.from(one), none, [0]);
        const back = signBits(Float32Array.from(one.map((x) => -x)), none, [0]);
        expect([...back]).toEqual([...there].map((byte) => byte ^ 0xff));
      }),
    );
  });
});
