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

/** For each query token its best match among a memory's tokens, 0..1, from this place on. */
export type MatchInto = (tokens: Uint8Array, into: Float64Array, at: number) => void;

/** max-sim.wat, assembled: `test/pure/max-sim.test.ts` holds them together. JavaScript has no instruction that counts bits: a prompt took 7 ms there. */
export const ASSEMBLED =
  "AGFzbQEAAAABCgFgBn9/f39/fwADAgEABQMBABAHFAIGbWVtb3J5AgAHbmVhcmVzdAAACrUCAbICAgd/Bn4gBEEDdCEGIAIgAyAGbGohByAAIAEgBm" +
  "xqIQkCQANAIAAgCU8NASAEQQZ0IQsgAiEIAkAgBEEGRgRAIAApAwAhDSAAKQMIIQ4gACkDECEPIAApAxghECAAKQMgIREgACkDKCESA0AgCCAHTw0C" +
  "IA0gCCkDAIV7IA4gCCkDCIV7IA8gCCkDEIV7IBAgCCkDGIV7IBEgCCkDIIV7IBIgCCkDKIV7fHx8fHynIQwgDCALSQRAIAwhCwsgCEEwaiEIDAALCw" +
  "NAIAggB08NAUEAIQxBACEKA0AgDCAAIApqKQMAIAggCmopAwCFe6dqIQwgCkEIaiEKIAogBkkNAAsgDCALSQRAIAwhCwsgCCAGaiEIDAALCyAFIAs2" +
  "AgAgBUEEaiEFIAAgBmohAAwACwsL";

interface Nearest extends Assembly {
  nearest(query: number, asked: number, tokens: number, count: number, words: number, out: number): void;
}

const assembly = instanceOf<Nearest>(ASSEMBLED);
const { memory, nearest } = assembly;

/** Whose query lies in the memory; another one's is put there again before it is compared. */
let present: readonly QueryToken[] | undefined;

/** Views of the whole memory, which end when it grows: making them anew took as long as a comparison. */
let bytes = new Uint8Array(memory.buffer);
let words = new Uint32Array(memory.buffer);

function reserve(size: number): void {
  if (size <= bytes.length) return;
  growTo(assembly, size);
  bytes = new Uint8Array(memory.buffer);
  words = new Uint32Array(memory.buffer);
}

export function matcher(query: readonly QueryToken[]): MatchInto {
  const size = query[0]?.bits.length ?? 0;
  if (size === 0) return () => undefined;
  if (size % 8 !== 0) throw new RangeError("tokens are compared in words of 64 bits");
  const asked = query.length;
  const out = asked * size;
  const from = out + asked * 8;
  const closeness = closenessOf(size);
  return (tokens, into, at) => {
    reserve(from + tokens.length);
    if (present !== query) {
      for (let q = 0; q < asked; q++) bytes.set((query[q] as QueryToken).bits, q * size);
      present = query;
    }
    bytes.set(tokens, from);
    nearest(0, asked, from, Math.floor(tokens.length / size), size / 8, out);
    for (let q = 0; q < asked; q++) into[at + q] = closeness[words[(out >>> 2) + q] as number] as number;
  };
}

const closenesses = new Map<number, Float64Array>();

/** By the number of bits that differ, of tokens of so many bytes. */
function closenessOf(size: number): Float64Array {
  const known = closenesses.get(size);
  if (known !== undefined) return known;
  const made = Float64Array.from({ length: size * 8 + 1 }, (_, distance) =>
    Math.max(0, Math.sin((Math.PI / 2) * (1 - (2 * distance) / (size * 8)))),
  );
  closenesses.set(size, made);
  return made;
}
