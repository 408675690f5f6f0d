/** Adds up the weights of a question's words, slot by slot. */
import { type Assembly, growTo, instanceOf } from "../assembled.ts";
import { B, K1, kthLargest, type Statistics, UNIT } from "../ranking/words/bm25.ts";
import { entriesWithin, type PostingList } from "./posting-list.ts";

/** weights.wat, assembled: `test/pure/read-model.test.ts` holds them together. An entry of a list took twice as long in JavaScript. */
export const ASSEMBLED =
  "AGFzbQEAAAABCQFgBX9/f39/AAMCAQAFAwEAAQcQAgZtZW1vcnkCAANhZGQAAAqLAgGIAgIFfwN8AkADQCAAIAFPDQEgACgCACEFIAVBCHYhBiACIAZBAX" +
  "RqLwEAIQcgBUH/AXEhBUEoIQggBUEBRiAHQYACSXEEQEHAACAHQQN0aiEICyAIKwMAIQsgC0QAAAAAAAAAAGEEQCAFuCEKQQgrAwBEAAAAAAAA8D9BACsD" +
  "ACAKoiAKQRArAwCgQRgrAwAgB7iiQSArAwCjoKNEAAAAAAAA4D+gnKWiIQsgCCALOQMAQShEAAAAAAAAAAA5AwALIAMgBkEDdGohCSAJKwMAIQwgBCAGNg" +
  "IAIAQgDEQAAAAAAAAAAGFBAnRqIQQgCSAMIAugOQMAIABBBGohAAwACwtBOCAENgIACw==";

interface Weights extends Assembly {
  add(entries: number, last: number, lengths: number, sums: number, met: number): void;
}

/** Slots that have a word, and the sum of each: the best of them, so that nothing else has as much as the least. */
export interface Summed {
  readonly slots: Int32Array;
  readonly scores: Float64Array;
  /** How many have a word. */
  readonly total: number;
}

export interface WordSums {
  /** How many lexemes the memory of this slot has. */
  lengthOf(slot: number): number;
  setLength(slot: number, length: number): void;
  /** At least the best k, or all. `lists`: of each term, on each of the shelves. */
  sumUp(statistics: Statistics, lists: readonly (readonly PostingList[])[], k: number): Summed;
}

type Term = Statistics["terms"][number];

/** So many that have a word tell about how much the best have. */
const MOST_COMPARED = 2_048;
/** So many entries are handed over at once. */
const PART = 4_096;
/** Where it is told how far slots were noted, where weights by length and entries begin, and what grows with the slots. */
const MET_TO = 56;
const ONCE = 64;
const ENTRIES = ONCE + 256 * 8;
const LENGTHS = ENTRIES + PART * 4;

export function openWordSums(): WordSums {
  const assembly = instanceOf<Weights>(ASSEMBLED);
  const { memory } = assembly;
  let room = 0;
  /** Where they begin. Between questions all sums are 0. */
  let [sumsAt, metAt] = [0, 0];
  let lengths = new Uint16Array(0);
  let sums = new Float64Array(0);
  let met = new Int32Array(0);
  let entries = new Int32Array(0);
  let constants = new Float64Array(0);
  let once = new Float64Array(0);

  const reserve = (slots: number) => {
    if (slots <= room) return;
    room = 8 * Math.ceil(Math.max(1_024, slots * 1.5) / 8);
    sumsAt = LENGTHS + room * 2;
    metAt = sumsAt + room * 8;
    growTo(assembly, metAt + (room + 1) * 4);
    constants = new Float64Array(memory.buffer, 0, 5);
    once = new Float64Array(memory.buffer, ONCE, 256);
    entries = new Int32Array(memory.buffer, ENTRIES, PART);
    lengths = new Uint16Array(memory.buffer, LENGTHS, room);
    sums = new Float64Array(memory.buffer, sumsAt, room);
    met = new Int32Array(memory.buffer, metAt, room + 1);
    // Slots that were met stood here before.
    sums.fill(0);
  };
  reserve(1);
  /** `count`, and what is returned: how many slots have a sum. */
  const add = (list: PostingList, count: number): number => {
    const all = entriesWithin(list);
    let next = metAt + count * 4;
    for (let at = 0; at < list.size; at += PART) {
      const part = all.subarray(at, Math.min(at + PART, list.size));
      entries.set(part);
      assembly.add(ENTRIES, ENTRIES + part.length * 4, LENGTHS, sumsAt, next);
      next = new Int32Array(memory.buffer, MET_TO, 1)[0] as number;
    }
    return (next - metAt) / 4;
  };
  /** The k-th best has at least so much: the k-th of those that have one of the rarer words. */
  const leastOf = (lists: readonly PostingList[], k: number): number => {
    const some: number[] = [];
    for (const list of lists) {
      const all = entriesWithin(list);
      for (let i = 0; i < list.size && some.length < MOST_COMPARED; i++)
        some.push(sums[(all[i] as number) >>> 8] as number);
    }
    return some.length < k ? 0 : kthLargest(new Float64Array(some), k);
  };
  /** Those that have at least so much; all sums are 0 again. */
  const takeFrom = (count: number, least: number): Pick<Summed, "slots" | "scores"> => {
    // Constants of this function: what another call may replace is looked up again at each step of a loop.
    const [sum, slots] = [sums, met];
    const found: number[] = [];
    const scores: number[] = [];
    for (let i = 0; i < count; i++) {
      const slot = slots[i] as number;
      const score = sum[slot] as number;
      sum[slot] = 0;
      if (score < least) continue;
      found.push(slot);
      scores.push(score);
    }
    return { slots: new Int32Array(found), scores: new Float64Array(scores) };
  };
  return {
    lengthOf: (slot) => lengths[slot] as number,
    setLength(slot, length) {
      reserve(slot + 1);
      lengths[slot] = length;
    },
    sumUp({ avgdl, terms }, lists, k) {
      let count = 0;
      for (let t = 0; t < terms.length; t++) {
        const { df, idf, count: asked } = terms[t] as Term;
        if (df === 0) continue;
        constants.set([(K1 + 1) * UNIT * idf, asked, K1 * (1 - B), K1 * B, avgdl]);
        once.fill(0);
        for (const list of lists[t] as readonly PostingList[]) count = add(list, count);
      }
      const least = count <= k ? 0 : leastOf(lists[rarer(terms, 8 * k)] as readonly PostingList[], k);
      return { ...takeFrom(count, least), total: count };
    },
  };
}

/** The rarest word that so many memories have, or else the most frequent. */
function rarer(terms: readonly Term[], enough: number): number {
  let chosen = 0;
  for (let t = 1; t < terms.length; t++) {
    const [df, best] = [(terms[t] as Term).df, (terms[chosen] as Term).df];
    if (best < enough ? df > best : df >= enough && df < best) chosen = t;
  }
  return chosen;
}
