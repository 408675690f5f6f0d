/**
 * The evidence of one question in arrays: a row for each memory, with the density of each term and the best match of each token of the
 * question. A row is read when it is first asked for, and again for each neighbour. Maps of objects in their place took three times as long.
 */

import type { MemoryEvidence, Question } from "./late-interaction.ts";
import { matcher } from "./max-sim.ts";
import type { Recipe } from "./recipe.ts";
import { B, K1 } from "./words/bm25.ts";
import { FORWARD_BYTES } from "./words/postings.ts";

export interface EvidenceTable {
  readonly items: readonly MemoryEvidence[];
  placeOf(id: string): number | undefined;
  /** The memory whose scores are asked for next, and the turns around it. */
  standAt(place: number): void;
  tokenScore(): number;
  keywordScore(): number;
  meaningScore(): number;
}

interface Gain {
  readonly offset: number;
  readonly gain: number;
}

const NOBODY = -1;
const TWO_32 = 2 ** 32;

export function tableOf(
  question: Question,
  { around, longPieces }: Pick<Recipe, "around" | "longPieces">,
  items: readonly MemoryEvidence[],
): EvidenceTable {
  const gains = {
    keywords: gainsOf(around.keywords),
    tokens: gainsOf(around.tokens),
    meaning: gainsOf(around.meaning),
  };
  const reach = Math.max(0, ...Object.values(gains).flatMap((all) => all.map(({ offset }) => Math.abs(offset))));
  const sessions = sessionsOf(items);
  const places = new Map<string, number>();
  for (let at = 0; at < items.length; at++) places.set((items[at] as MemoryEvidence).id, at);
  const densityOf = densities(question, items);
  const matchesOf = matches(question, items);
  const terms = question.terms;
  const tokens = question.tokens;
  const weightSum = tokens.reduce((sum, { weight }) => sum + weight, 0) || 1;
  const sums = new Float64Array(terms.length);
  const best = new Float64Array(tokens.length);
  /** By distance, the nearest on the left first. */
  const beside = new Int32Array(2 * reach + 1);
  let here = 0;
  let helped = false;
  const turnAt = (offset: number): number => (helped ? (beside[reach + offset] as number) : NOBODY);

  return {
    items,
    placeOf: (id) => places.get(id),
    standAt(place) {
      const { session, pieces, ordinal } = items[place] as MemoryEvidence;
      here = place;
      helped = session !== undefined && pieces <= longPieces;
      if (!helped) return;
      beside.fill(NOBODY);
      for (let at = sessions.first[place] as number; at !== NOBODY; at = sessions.next[at] as number) {
        const far = (items[at] as MemoryEvidence).ordinal - ordinal;
        if (far >= -reach && far <= reach) beside[reach + far] = at;
      }
    },
    keywordScore() {
      const all = densityOf.rows;
      const own = densityOf.row(here);
      for (let t = 0; t < sums.length; t++) sums[t] = all[own + t] as number;
      for (const { offset, gain } of gains.keywords) {
        const turn = turnAt(offset);
        if (turn === NOBODY) continue;
        const row = densityOf.row(turn);
        for (let t = 0; t < sums.length; t++) sums[t] = (sums[t] as number) + gain * (all[row + t] as number);
      }
      let score = 0;
      for (let t = 0; t < sums.length; t++) {
        const { idf, count } = terms[t] as Question["terms"][number];
        const tf = sums[t] as number;
        score += (count * idf * tf * (K1 + 1)) / (tf + K1);
      }
      return score;
    },
    tokenScore() {
      const all = matchesOf.rows;
      const own = matchesOf.row(here);
      for (let q = 0; q < best.length; q++) best[q] = all[own + q] as number;
      for (const { offset, gain } of gains.tokens) {
        const turn = turnAt(offset);
        if (turn === NOBODY) continue;
        const row = matchesOf.row(turn);
        for (let q = 0; q < best.length; q++) {
          const match = gain * (all[row + q] as number);
          if (match > (best[q] as number)) best[q] = match;
        }
      }
      let sum = 0;
      for (let q = 0; q < best.length; q++)
        sum += (tokens[q] as Question["tokens"][number]).weight * (best[q] as number);
      return sum / weightSum;
    },
    meaningScore() {
      let sum = (items[here] as MemoryEvidence).cosine ?? 0;
      for (const { offset, gain } of gains.meaning) {
        const turn = turnAt(offset);
        if (turn !== NOBODY) sum += gain * ((items[turn] as MemoryEvidence).cosine ?? 0);
      }
      return sum;
    },
  };
}

const gainsOf = (gains: Readonly<Record<number, number>>): readonly Gain[] =>
  Object.entries(gains).map(([offset, gain]) => ({ offset: Number(offset), gain }));

/** Turns of one session as a chain, in the order in which they came. */
function sessionsOf(items: readonly MemoryEvidence[]): { readonly first: Int32Array; readonly next: Int32Array } {
  const first = new Int32Array(items.length).fill(NOBODY);
  const next = new Int32Array(items.length).fill(NOBODY);
  const last = new Map<string, number>();
  for (let at = 0; at < items.length; at++) {
    const { session } = items[at] as MemoryEvidence;
    if (session === undefined) continue;
    const before = last.get(session);
    first[at] = before === undefined ? at : (first[before] as number);
    if (before !== undefined) next[before] = at;
    last.set(session, at);
  }
  return { first, next };
}

/** A matrix whose rows are filled when they are asked for. */
interface Rows {
  readonly rows: Float64Array;
  /** Where the row of this memory begins. */
  row(place: number): number;
}

function rowsOf(count: number, width: number, fill: (place: number, at: number) => void): Rows {
  const rows = new Float64Array(count * width);
  const filled = new Uint8Array(count);
  return {
    rows,
    row(place) {
      const at = place * width;
      if (filled[place] === 0) {
        filled[place] = 1;
        fill(place, at);
      }
      return at;
    },
  };
}

/** Each term's count, eased by the length of the text it stands in. */
function densities({ terms, avgdl }: Question, items: readonly MemoryEvidence[]): Rows {
  const low = Uint32Array.from(terms, ({ hash }) => hash % TWO_32);
  const high = Uint8Array.from(terms, ({ hash }) => Math.floor(hash / TWO_32));
  // Most words of a memory are not asked for, and nearly all of those differ in one byte from every one that is.
  const isAsked = new Uint8Array(256);
  for (const hash of low) isAsked[hash & 255] = 1;
  const made = rowsOf(items.length, terms.length, (place, at) => {
    const { words: x, len } = items[place] as MemoryEvidence;
    for (let byte = 0; byte + FORWARD_BYTES <= x.length; byte += FORWARD_BYTES) {
      if (isAsked[x[byte] as number] === 0) continue;
      const hash = read32(x, byte);
      for (let t = 0; t < low.length; t++)
        if (low[t] === hash && high[t] === x[byte + 4])
          made.rows[at + t] = (x[byte + 5] as number) / (1 - B + (B * len) / avgdl);
    }
  });
  return made;
}

const read32 = (x: Uint8Array, at: number): number =>
  ((x[at] as number) | ((x[at + 1] as number) << 8) | ((x[at + 2] as number) << 16) | ((x[at + 3] as number) << 24)) >>>
  0;

function matches({ tokens }: Question, items: readonly MemoryEvidence[]): Rows {
  const match = matcher(tokens);
  const made = rowsOf(items.length, tokens.length, (place, at) => {
    const { tokens: bits } = items[place] as MemoryEvidence;
    if (bits !== undefined) match(bits, made.rows, at);
  });
  return made;
}
