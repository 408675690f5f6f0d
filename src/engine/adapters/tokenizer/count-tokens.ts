/** Counts the tokens of a text by byte pair encoding, as the library does: the pieces of a split, then merges of the lowest rank first. */
import { NO_TOKEN, type TokenTable } from "./token-table.ts";

/** `split` is the encoding's own pattern, with the flags `g` and `u`. */
export function tokenCounter(table: TokenTable, split: RegExp): (text: string) => number {
  const encoder = new TextEncoder();
  let bytes = new Uint8Array(512);
  let starts = new Int32Array(513);
  let ranks = new Int32Array(513);

  /** Writes a piece into `bytes`, and returns how many they are. Most are plain ASCII, where a loop beats a call of the encoder. */
  function write(piece: string): number {
    if (piece.length * 3 > bytes.length) {
      bytes = new Uint8Array(piece.length * 6);
      starts = new Int32Array(bytes.length + 1);
      ranks = new Int32Array(bytes.length + 1);
    }
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code > 127) return encoder.encodeInto(piece, bytes).written;
      bytes[at] = code;
    }
    return piece.length;
  }

  const pairRank = (part: number, parts: number): number =>
    part + 2 > parts ? NO_TOKEN : table.rank(bytes, starts[part] ?? 0, starts[part + 2] ?? 0);

  function merge(length: number): number {
    for (let at = 0; at <= length; at++) starts[at] = at;
    for (let at = 0; at < length; at++) ranks[at] = pairRank(at, length);
    let parts = length;
    for (;;) {
      let best = -1;
      let lowest = NO_TOKEN;
      for (let at = 0; at < parts - 1; at++) {
        const rank = ranks[at] ?? NO_TOKEN;
        if (rank >= lowest) continue;
        lowest = rank;
        best = at;
      }
      if (best < 0) return parts;
      starts.copyWithin(best + 1, best + 2, parts + 1);
      ranks.copyWithin(best, best + 1, parts);
      parts -= 1;
      ranks[best] = pairRank(best, parts);
      if (best > 0) ranks[best - 1] = pairRank(best - 1, parts);
    }
  }

  return (text) => {
    let total = 0;
    for (const [piece] of text.matchAll(split)) {
      const length = write(piece);
      total += length === 1 || table.rank(bytes, 0, length) !== NO_TOKEN ? 1 : merge(length);
    }
    return total;
  };
}
