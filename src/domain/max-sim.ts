/**
 * Late interaction on sign bits: a token is a few dozen bytes, and two tokens are as alike as their bits agree.
 * For random directions the angle is π · hamming / bits, so sin(π/2 · (1 − 2·hamming/bits)) is their cosine.
 */
export interface QueryToken {
  readonly bits: Uint32Array;
  /** How much its match counts. */
  readonly weight: number;
}

function bitsSet(word: number): number {
  let x = word - ((word >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** For each query token its best match among the memory's tokens, 0..1. */
export function bestMatches(query: readonly QueryToken[], tokens: Uint32Array): Float64Array {
  const best = new Float64Array(query.length);
  for (let q = 0; q < query.length; q++) {
    const asked = (query[q] as QueryToken).bits;
    const words = asked.length;
    let least = words * 32;
    for (let at = 0; at + words <= tokens.length; at += words) {
      let distance = 0;
      for (let w = 0; w < words && distance < least; w++)
        distance += bitsSet((asked[w] as number) ^ (tokens[at + w] as number));
      if (distance < least) least = distance;
    }
    best[q] = Math.max(0, Math.sin((Math.PI / 2) * (1 - (2 * least) / (words * 32))));
  }
  return best;
}

/** Bytes as 32-bit words; copied only when they do not begin on a word. */
export function asWords(bytes: Uint8Array): Uint32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Uint32Array(aligned.buffer, aligned.byteOffset, Math.floor(aligned.length / 4));
}
