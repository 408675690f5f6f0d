/**
 * The byte formats of the lexical tables. Little-endian throughout.
 *   forward row  per lexeme   h40 (5) tf (1)             lex_doc.x
 *   block entry  per memory   slot (4) tf (1) len (2)    lex_block.x, slots ascending
 *   slim entry   per memory   4 × gap + tf in 7 bits a byte, the lowest first    lex_block.slim, of long lists
 *                             (the gap is that to the slot before, of the first to the block's b; a tf of 3 and more is 3, and a byte of its own)
 * tf and len are clamped when the forward row is made and copied from there, so folding never changes a score.
 */
export const FORWARD_BYTES = 6;
export const ENTRY_BYTES = 7;
export const BLOCK_ENTRIES = 256;
const MAX_TF = 0xff;
export const MAX_LEN = 0xffff;
/** 23 bits of shelf above 40 bits of hash fill a positive int8. */
const MAX_SK = 2 ** 23 - 1;
const TWO_32 = 2 ** 32;

export interface Forward {
  /** Number of lexemes in the text, clamped. */
  readonly len: number;
  readonly x: Uint8Array;
}

export interface Entry {
  readonly slot: number;
  readonly tf: number;
  readonly len: number;
}

/** Final avalanche of a 32-bit hash: every input bit reaches every output bit. */
function avalanche(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * A fixed 40-bit hash of a lexeme's UTF-16 code units. Stored: it may never change. Of a vocabulary of a million words
 * about half a pair share a hash; such words count as one everywhere, on both stores.
 */
export function h40(lexeme: string): number {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let i = 0; i < lexeme.length; i++) {
    const unit = lexeme.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x5bd1e995) ^ (high >>> 15);
  }
  return (avalanche(high) & 0xff) * TWO_32 + avalanche(low);
}

/** lex_block.key as the decimal text of an int8. */
export function blockKey(sk: number, hash: number): string {
  if (!Number.isInteger(sk) || sk < 0 || sk > MAX_SK) throw new RangeError(`shelf ${sk} does not fit a block key`);
  return ((BigInt(sk) << 40n) | BigInt(hash)).toString();
}

/** How often each hash occurs, in order of first appearance. */
export function countHashes(words: readonly string[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const word of words) {
    const hash = h40(word);
    counts.set(hash, (counts.get(hash) ?? 0) + 1);
  }
  return counts;
}

export function encodeForward(words: readonly string[]): Forward {
  const counts = countHashes(words);
  const x = new Uint8Array(counts.size * FORWARD_BYTES);
  const view = new DataView(x.buffer);
  let at = 0;
  for (const [hash, count] of counts) {
    view.setUint32(at, hash % TWO_32, true);
    x[at + 4] = Math.floor(hash / TWO_32);
    x[at + 5] = Math.min(count, MAX_TF);
    at += FORWARD_BYTES;
  }
  return { len: Math.min(words.length, MAX_LEN), x };
}

export function eachForward(x: Uint8Array, visit: (hash: number, tf: number) => void): void {
  const view = new DataView(x.buffer, x.byteOffset, x.byteLength);
  for (let at = 0; at + FORWARD_BYTES <= x.length; at += FORWARD_BYTES) {
    visit((x[at + 4] as number) * TWO_32 + view.getUint32(at, true), x[at + 5] as number);
  }
}

export function encodeEntries(entries: readonly Entry[]): Uint8Array {
  const x = new Uint8Array(entries.length * ENTRY_BYTES);
  const view = new DataView(x.buffer);
  for (const [i, entry] of entries.entries()) {
    view.setUint32(i * ENTRY_BYTES, entry.slot, true);
    x[i * ENTRY_BYTES + 4] = entry.tf;
    view.setUint16(i * ENTRY_BYTES + 5, entry.len, true);
  }
  return x;
}

export function eachEntry(x: Uint8Array, visit: (slot: number, tf: number, len: number) => void): void {
  const view = new DataView(x.buffer, x.byteOffset, x.byteLength);
  for (let at = 0; at + ENTRY_BYTES <= x.length; at += ENTRY_BYTES) {
    visit(view.getUint32(at, true), x[at + 4] as number, view.getUint16(at + 5, true));
  }
}

/** The slots and tfs of a block whose first slot is `b` or later: a fifth of its bytes, where the list is long. */
export function slimOf(x: Uint8Array, b: number): Uint8Array {
  const bytes: number[] = [];
  let before = b;
  eachEntry(x, (slot, tf) => {
    let value = 4 * (slot - before) + Math.min(tf, 3);
    before = slot;
    for (; value > 0x7f; value = Math.floor(value / 0x80)) bytes.push(0x80 | (value % 0x80));
    bytes.push(value);
    if (tf >= 3) bytes.push(tf);
  });
  return Uint8Array.from(bytes);
}

/** The block without one memory's entry, or nothing if it is not there. */
export function withoutSlot(x: Uint8Array, slot: number): Uint8Array | undefined {
  const view = new DataView(x.buffer, x.byteOffset, x.byteLength);
  for (let at = 0; at + ENTRY_BYTES <= x.length; at += ENTRY_BYTES) {
    if (view.getUint32(at, true) === slot) return concat([x.subarray(0, at), x.subarray(at + ENTRY_BYTES)]);
  }
  return undefined;
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The text of a uuid from its 16 bytes. */
export function uuidText(bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) hex += (byte + 0x100).toString(16).slice(1);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
