/**
 * Late interaction on sign bits: a token is a few dozen bytes, and two tokens are as alike as their bits agree.
 * For random directions the angle is π · hamming / bits, so sin(π/2 · (1 − 2·hamming/bits)) is their cosine.
 */
import { type Assembly, growTo, instanceOf } from "../assembled.ts";

export interface QueryToken {
  readonly bits: Uint8Array;
  /** How much its match counts. */
  readonly weight: number;
}

/** For each query token its best match among a memory's tokens, 0..1. */
export type Matcher = (tokens: Uint8Array) => Float64Array;

/** max-sim.wat, assembled: `test/pure/max-sim.test.ts` holds them together. JavaScript has no instruction that counts bits: a prompt took 7 ms there. */
export const ASSEMBLED =
  "AGFzbQEAAAABCgFgBn9/f39/fwADAgEABQMBABAHFAIGbWVtb3J5AgAHbmVhcmVzdAAACqQBAaEBAQd/IARBA3QhBiACIAMgBmxqIQcgACAB" +
  "IAZsaiEJAkADQCAAIAlPDQEgBEEGdCELIAIhCAJAA0AgCCAHTw0BQQAhDEEAIQoDQCAMIAAgCmopAwAgCCAKaikDAIV7p2ohDCAKQQhqIQog" +
  "CiAGSQ0ACyAMIAtJBEAgDCELCyAIIAZqIQgMAAsLIAUgCzYCACAFQQRqIQUgACAGaiEADAALCws=";

interface Nearest extends Assembly {
  nearest(query: number, asked: number, tokens: number, count: number, words: number, out: number): void;
}

const assembly = instanceOf<Nearest>(ASSEMBLED);
const { memory, nearest } = assembly;

/** Whose query lies in the memory; another one's is put there again before it is compared. */
let present: readonly QueryToken[] | undefined;

export function matcher(query: readonly QueryToken[]): Matcher {
  const size = query[0]?.bits.length ?? 0;
  if (size === 0) return () => new Float64Array(query.length);
  if (size % 8 !== 0) throw new RangeError("tokens are compared in words of 64 bits");
  const out = query.length * size;
  const from = out + query.length * 8;
  const closeness = Float64Array.from({ length: size * 8 + 1 }, (_, distance) =>
    Math.max(0, Math.sin((Math.PI / 2) * (1 - (2 * distance) / (size * 8)))),
  );
  return (tokens) => {
    growTo(assembly, from + tokens.length);
    const all = new Uint8Array(memory.buffer);
    if (present !== query) {
      query.forEach(({ bits }, index) => {
        all.set(bits, index * size);
      });
      present = query;
    }
    all.set(tokens, from);
    nearest(0, query.length, from, Math.floor(tokens.length / size), size / 8, out);
    return Float64Array.from(
      new Uint32Array(memory.buffer, out, query.length),
      (distance) => closeness[distance] as number,
    );
  };
}
