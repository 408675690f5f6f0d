/** Counts the tokens of a text by byte pair encoding, as the library does: the pieces of a split, then merges of the lowest rank first. */
import { alone } from "../../domain/text/remembered.ts";
import { END } from "./ascii-pieces.ts";
import { NO_TOKEN, type TokenTable } from "./token-table.ts";

/** The end of the piece of plain ASCII that begins at `from`. Behind the text stands `END`. */
type PieceEnd = (bytes: Uint8Array, from: number) => number;

/** Names and numbers that are several tokens come again and again: counted once, until there are too many of them. */
const MOST_MERGED = 8_192;
const MOST_KEPT = 64;

/** `split` is the encoding's own pattern, with the flags `g` and `u`; `pieceEnd` does the same for plain ASCII, and faster. */
export function tokenCounter(table: TokenTable, split: RegExp, pieceEnd?: PieceEnd): (text: string) => number {
  const encoder = new TextEncoder();
  let bytes = new Uint8Array(512);
  let starts = new Int32Array(513);
  let ranks = new Int32Array(513);

  function reserve(size: number): void {
    if (size <= bytes.length) return;
    bytes = new Uint8Array(size * 2);
    starts = new Int32Array(bytes.length + 1);
    ranks = new Int32Array(bytes.length + 1);
  }

  /** Writes plain ASCII into `bytes`; false where something else is met. */
  function writeAscii(text: string): boolean {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code > 127) return false;
      bytes[at] = code;
    }
    return true;
  }

  /** Writes a piece into `bytes`, and returns how many they are. Most are plain ASCII, where a loop beats a call of the encoder. */
  function write(piece: string): number {
    reserve(piece.length * 3);
    return writeAscii(piece) ? piece.length : encoder.encodeInto(piece, bytes).written;
  }

  const pairRank = (part: number, parts: number): number =>
    part + 2 > parts ? NO_TOKEN : table.rank(bytes, starts[part] ?? 0, starts[part + 2] ?? 0);

  function merge(from: number, length: number): number {
    for (let at = 0; at <= length; at++) starts[at] = from + at;
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

  const countPiece = (from: number, length: number): number =>
    length === 1 || table.rank(bytes, from, from + length) !== NO_TOKEN ? 1 : merge(from, length);

  const merged = new Map<string, number>();
  function mergedOnce(piece: string, from: number): number {
    const known = merged.get(piece);
    if (known !== undefined) return known;
    const made = merge(from, piece.length);
    if (merged.size >= MOST_MERGED) merged.clear();
    if (piece.length <= MOST_KEPT) merged.set(alone(piece), made);
    return made;
  }

  return (text) => {
    let total = 0;
    reserve(text.length + 1);
    if (pieceEnd !== undefined && writeAscii(text)) {
      bytes[text.length] = END;
      for (let from = 0, end = 0; from < text.length; from = end) {
        end = pieceEnd(bytes, from);
        if (end - from === 1 || table.rank(bytes, from, end) !== NO_TOKEN) total += 1;
        else total += mergedOnce(text.slice(from, end), from);
      }
      return total;
    }
    for (const [piece] of text.matchAll(split)) total += countPiece(0, write(piece));
    return total;
  };
}
