/**
 * The tokens of an encoding as one block of bytes with a hash table over it: 5 MB and 20 ms to load, where the library's own tables
 * (a string and a Map entry for each of 200,000 tokens) take 67 MB and 0.2 s, and stay for as long as the process.
 */

/** By rank; a text, or the bytes of one that is no UTF-8. Ranks without a token are holes. */
export type Ranks = readonly (string | readonly number[] | undefined)[];

export interface TokenTable {
  /** The rank of the token that is `bytes[from, to)`; NO_TOKEN when there is none. */
  rank(bytes: Uint8Array, from: number, to: number): number;
}

export const NO_TOKEN = 0x7fffffff;

/** What the build writes: the number of ranks, the length of each token in a byte, then the tokens one after the other. */
export function packTokens(ranks: Ranks): Uint8Array {
  const tokens = Array.from(ranks, (token) =>
    typeof token === "string" ? Buffer.from(token) : Buffer.from(token ?? []),
  );
  if (tokens.some(({ length }) => length > 255)) throw new Error("a token is longer than its length can say");
  const head = Buffer.alloc(4);
  head.writeUInt32LE(tokens.length);
  return Buffer.concat([head, Uint8Array.from(tokens, ({ length }) => length), ...tokens]);
}

export function unpackTokens(packed: Uint8Array): TokenTable {
  const count = new DataView(packed.buffer, packed.byteOffset).getUint32(0, true);
  const lengths = packed.subarray(4, 4 + count);
  const bytes = packed.subarray(4 + count);
  const starts = new Uint32Array(count);
  // Open addressing with at least half of the slots free; a slot holds a rank + 1.
  const mask = 2 ** (Math.ceil(Math.log2(count)) + 1) - 1;
  const slots = new Uint32Array(mask + 1);
  let at = 0;
  for (let rank = 0; rank < count; rank++) {
    const length = lengths[rank] ?? 0;
    starts[rank] = at;
    if (length > 0) {
      let slot = hash(bytes, at, at + length) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = rank + 1;
    }
    at += length;
  }

  function same(rank: number, text: Uint8Array, from: number, to: number): boolean {
    if (lengths[rank] !== to - from) return false;
    const start = starts[rank] ?? 0;
    for (let index = from; index < to; index++) if (text[index] !== bytes[start + index - from]) return false;
    return true;
  }

  return {
    rank(text, from, to) {
      for (let slot = hash(text, from, to) & mask; ; slot = (slot + 1) & mask) {
        const rank = (slots[slot] ?? 0) - 1;
        if (rank < 0) return NO_TOKEN;
        if (same(rank, text, from, to)) return rank;
      }
    },
  };
}

/** FNV-1a; its upper bits are folded in because the table uses the lower ones. */
function hash(bytes: Uint8Array, from: number, to: number): number {
  let value = 0x811c9dc5;
  for (let at = from; at < to; at++) value = Math.imul(value ^ (bytes[at] ?? 0), 0x01000193);
  return value ^ (value >>> 15);
}
