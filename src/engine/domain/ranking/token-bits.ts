/**
 * What is kept of a text's tokens beside its one vector: a bit for each dimension of each telling token. Comparing bits finds
 * the words that a mean over all of them blurs, at 48 bytes a token instead of 1,536.
 */
import { STOP_WORDS } from "../text/stop-words.ts";

export interface TokenBits {
  /** Word pieces of the text, also those beyond what the model reads and those not kept. */
  readonly pieces: number;
  /**
   * dimensions/8 bytes for each token kept: bit k of a token is 1 when its state, of length 1 and less the model's mean, is
   * positive in dimension k (little-endian: byte k>>3, bit k&7).
   */
  readonly bits: Uint8Array;
  /** For each token kept: the word it belongs to, whole, lower case as the tokenizer gives it (pieces joined, without ##). */
  readonly words: readonly string[];
  /**
   * For each token kept: its rank in the vocabulary. Vocabularies are sorted by frequency, so it is a prior of how telling a
   * piece is.
   */
  readonly ranks: readonly number[];
}

/** A piece that goes on with the word before it. */
const GOES_ON = "##";
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** Positions of the telling pieces: neither punctuation nor a stop word standing alone; all of them if none is. */
export function keptPieces(pieces: readonly string[]): number[] {
  const all = [...pieces.keys()];
  const kept = all.filter((at) => isTelling(pieces[at] ?? ""));
  return kept.length === 0 ? all : kept;
}

const isTelling = (piece: string): boolean => LETTER_OR_DIGIT.test(piece) && !STOP_WORDS.has(piece);

/** For each piece the whole word that it is part of. */
export function wholeWords(pieces: readonly string[]): string[] {
  const words: string[] = [];
  const wordOf = pieces.map((piece) => {
    if (piece.startsWith(GOES_ON) && words.length > 0) words.push(words.pop() + piece.slice(GOES_ON.length));
    else words.push(piece);
    return words.length - 1;
  });
  return wordOf.map((at) => words[at] ?? "");
}

/** `states` holds a row of `mean.length` numbers for each token; the rows named by `tokens` are packed, in that order. */
export function signBits(states: Float32Array, mean: Float32Array, tokens: readonly number[]): Uint8Array {
  const width = mean.length;
  const bits = new Uint8Array((tokens.length * width) / 8);
  tokens.forEach((token, at) => {
    const row = states.subarray(token * width, (token + 1) * width);
    let squares = 0;
    for (const state of row) squares += state * state;
    const length = Math.sqrt(squares);
    for (let k = 0; k < width; k++) {
      if ((row[k] ?? 0) / length <= (mean[k] ?? 0)) continue;
      const byte = (at * width + k) >> 3;
      bits[byte] = (bits[byte] ?? 0) | (1 << (k & 7));
    }
  });
  return bits;
}
