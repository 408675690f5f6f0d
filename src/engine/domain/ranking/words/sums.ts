/** Adds up the weights of a question's words, memory by memory. */

import {
  type Found,
  type Hit,
  K1,
  type Members,
  type Postings,
  type Ranking,
  rankingOf,
  type Shelf,
  type Statistics,
  scoreOf,
  survey,
  UNIT,
  weight,
} from "./bm25.ts";
import { mostUnread } from "./bounds.ts";
import { ENTRY_BYTES, uuidText } from "./postings.ts";

export interface Sums {
  readonly postings: Postings;
  readonly statistics: Statistics;
  /** Of each memory that has more than unread words alone can add up to: all that have a word, if there are none of those. */
  readonly scores: Float64Array;
  hitAt(i: number): Hit;
  isAmong(i: number, members: Members): boolean;
}

/**
 * Kept between queries: a shelf of a million slots would otherwise cost 10 MB of fresh zeros each time. Between queries all sums are 0;
 * `places` are the positions that have one, in the order in which they were met.
 */
let sums: Float64Array | Int32Array = new Int32Array(0);
let taken: Float64Array | Int32Array = new Int32Array(0);
let lengthOf = new Uint16Array(0);
let places = new Int32Array(0);

/** Integers of half the size where no sum can outgrow them, which is nearly always: the sums of a million slots are what takes time. */
function reserve(slots: number, greatest: number): void {
  const isLarge = greatest >= 2 ** 31;
  if (sums.length > slots && isLarge === sums instanceof Float64Array) return;
  const size = Math.max(1024, 2 ** Math.ceil(Math.log2(slots + 1)));
  [sums, taken] = isLarge
    ? [new Float64Array(size), new Float64Array(size)]
    : [new Int32Array(size), new Int32Array(size)];
  lengthOf = new Uint16Array(size);
  places = new Int32Array(size);
}

/** Most memories are short and have a word a few times: of those each weight is worked out once a term. */
const TIMES = 4;
const LENGTHS = 256;

type Weigh = (tf: number, len: number) => number;

/** Adds one list's weights to the pooled sums. `before`, and what is returned: how many positions have a sum. */
function addBlock(x: Uint8Array, base: number, known: Int32Array, weigh: Weigh, before: number): number {
  const view = new DataView(x.buffer, x.byteOffset, x.byteLength);
  // Constants of this function: what another call may replace is looked up again at each step of a loop.
  const [sum, lens, found] = [sums, lengthOf, places];
  let met = before;
  for (let at = 0; at + ENTRY_BYTES <= x.length; at += ENTRY_BYTES) {
    const i = base + view.getInt32(at, true);
    const tf = x[at + 4] as number;
    const len = view.getUint16(at + 5, true);
    const cell = tf <= TIMES && len < LENGTHS ? (tf - 1) * LENGTHS + len : -1;
    let add = cell < 0 ? 0 : (known[cell] as number);
    if (add === 0) {
      add = weigh(tf, len);
      if (cell >= 0 && add < 2 ** 31) known[cell] = add;
    }
    const held = sum[i] as number;
    // Not a branch, which would be guessed wrong every other time.
    found[met] = i;
    met += Number(held === 0);
    sum[i] = held + add;
    lens[i] = len;
  }
  return met;
}

/**
 * Adds the weights of an unread list to the memories that were met, whose lengths are known from the lists that were read. A slot that was
 * given out since the shelf was counted was not met either. `glued` are blocks as a statement glues them: b (4), number of bytes (4), both
 * big-endian, the bytes.
 */
function addSlim(glued: Uint8Array, base: number, known: Int32Array, weigh: Weigh): void {
  const [sum, lens] = [sums, lengthOf];
  const view = new DataView(glued.buffer, glued.byteOffset, glued.byteLength);
  for (let at = 0; at < glued.length; ) {
    let i = base + view.getInt32(at);
    const end = at + 8 + view.getInt32(at + 4);
    at += 8;
    while (at < end) {
      let byte = glued[at++] as number;
      const few = byte & 3;
      i += (byte & 0x7f) >> 2;
      for (let shift = 5; byte > 0x7f; shift += 7) {
        byte = glued[at++] as number;
        i += (byte & 0x7f) << shift;
      }
      const tf = few === 3 ? (glued[at++] as number) : few;
      const before = sum[i] as number;
      if (!(before > 0)) continue;
      const len = lens[i] as number;
      const cell = tf <= TIMES && len < LENGTHS ? (tf - 1) * LENGTHS + len : -1;
      let add = cell < 0 ? 0 : (known[cell] as number);
      if (add === 0) {
        add = weigh(tf, len);
        if (cell >= 0 && add < 2 ** 31) known[cell] = add;
      }
      sum[i] = before + add;
    }
  }
}

/** The positions whose sums are above the floor, with room for more scores; all sums are 0 again. */
function takeAbove(met: number, floor: number, more: number): { positions: Int32Array; scores: Float64Array } {
  const [sum, found, above] = [sums, places, taken];
  let count = 0;
  for (let at = 0; at < met; at++) {
    const i = found[at] as number;
    const score = sum[i] as number;
    sum[i] = 0;
    found[count] = i;
    above[count] = score;
    count += Number(score > floor);
  }
  const scores = new Float64Array(count + more);
  scores.set(above.subarray(0, count));
  return { positions: found.slice(0, count), scores };
}

const greatestSum = ({ terms }: Statistics): number =>
  terms.reduce((sum, { count, idf }) => sum + count * ((K1 + 1) * UNIT * idf + 1), 0);

export function sumUp(postings: Postings): Sums {
  const { statistics, fresh } = survey(postings);
  const { avgdl, terms } = statistics;

  const bases = new Map<number, number>();
  const starts: number[] = [];
  let slots = 0;
  for (const shelf of postings.shelves) {
    bases.set(shelf.sk, slots);
    starts.push(slots);
    slots += shelf.slots;
  }
  reserve(slots, greatestSum(statistics));

  const known = terms.map(() => new Int32Array(TIMES * LENGTHS));
  const weigher = (at: number): Weigh => {
    const { count, idf } = terms[at] as Statistics["terms"][number];
    return (tf, len) => count * weight(idf, tf, len, avgdl);
  };
  let met = 0;
  for (const { x, sk, term } of postings.blocks)
    met = addBlock(x, bases.get(sk) as number, known[term] as Int32Array, weigher(term), met);
  for (const { slim, sk, term } of postings.unread)
    addSlim(slim, bases.get(sk) as number, known[term] as Int32Array, weigher(term));
  for (const row of postings.gone) {
    const base = bases.get(row.sk);
    if (base !== undefined) sums[base + row.slot] = 0;
  }
  const floor = mostUnread(postings, statistics);
  const { positions, scores } = takeAbove(met, floor, postings.fresh.length);
  const unfolded: number[] = [];
  for (const [i, row] of postings.fresh.entries()) {
    const score = scoreOf(fresh[i] as Found, row.len, statistics);
    if (score > floor) scores[positions.length + unfolded.push(i) - 1] = score;
  }

  const shelfAt = (position: number): number => {
    let s = starts.length - 1;
    while (s > 0 && (starts[s] as number) > position) s--;
    return s;
  };
  const freshAt = (i: number) => postings.fresh[unfolded[i - positions.length] ?? -1];
  const hitAt = (i: number): Hit => {
    const score = scores[i] as number;
    const row = freshAt(i);
    if (row !== undefined) return { sk: row.sk, memoryId: uuidText(row.id), score };
    const position = positions[i] as number;
    const s = shelfAt(position);
    return { sk: (postings.shelves[s] as Shelf).sk, slot: position - (starts[s] as number), score };
  };
  const wanted = (folded: Members["slots"]) => postings.shelves.map(({ sk }) => folded.get(sk));
  let asked: { readonly of: Members["slots"]; readonly by: ReturnType<typeof wanted> } | undefined;
  const isAmong = (i: number, { slots: folded, ids }: Members): boolean => {
    const row = freshAt(i);
    if (row !== undefined) return ids.has(uuidText(row.id));
    if (asked?.of !== folded) asked = { of: folded, by: wanted(folded) };
    const position = positions[i] as number;
    const shelf = shelfAt(position);
    return asked.by[shelf]?.has(position - (starts[shelf] as number)) ?? false;
  };
  return {
    postings,
    statistics,
    scores: scores.subarray(0, positions.length + unfolded.length),
    hitAt,
    isAmong,
  };
}

/** Of postings that were read whole. */
export function rank(postings: Postings): Ranking {
  const { statistics, scores, hitAt, isAmong } = sumUp(postings);
  return rankingOf(statistics, scores, hitAt, isAmong);
}
