/**
 * The best of a ranking without reading the longest lists whole. A frequent word adds little to a score: a memory that has nothing but
 * frequent words of the question is not among the best, as a rule, so that the frequent ones matter only for memories that were met in
 * the list of a rarer one. For those slot and tf suffice, which take a fifth of the bytes: the length is known from the other list. Once
 * the k-th best score is above everything that the unread words can add up to, the best k are those of the whole ranking, to the last tie.
 */
import { type Postings, type Statistics, weight } from "./bm25.ts";
import { MAX_LEN } from "./postings.ts";

/**
 * What bounds the weights of one list: the least length of a memory that has the word once, twice … seven times, and more often.
 * Two bytes each, little-endian, as `lex_long.least` has them. Removing a memory leaves them as they are: a bound may be too wide.
 */
const STEPS = 8;
export const LEAST_BYTES = 2 * STEPS;
const MOST_TIMES = 255;

export const noLengths = (): Uint16Array => new Uint16Array(STEPS).fill(MAX_LEN);

const stepOf = (tf: number) => Math.min(tf, STEPS) - 1;

export const isBounded = (least: Uint16Array, tf: number, len: number): boolean => len >= (least[stepOf(tf)] as number);

export function noteLength(least: Uint16Array, tf: number, len: number): void {
  if (!isBounded(least, tf, len)) least[stepOf(tf)] = len;
}

export function encodeLengths(least: Uint16Array): Uint8Array {
  const x = new Uint8Array(LEAST_BYTES);
  const view = new DataView(x.buffer);
  for (const [step, len] of least.entries()) view.setUint16(2 * step, len, true);
  return x;
}

export function decodeLengths(x: Uint8Array): Uint16Array {
  const view = new DataView(x.buffer, x.byteOffset, x.byteLength);
  return Uint16Array.from({ length: STEPS }, (_, step) => view.getUint16(2 * step, true));
}

const timesAt = (step: number) => (step === STEPS - 1 ? MOST_TIMES : step + 1);

/** The most that unread words add up to for a memory that has no other word of the question. */
export function mostUnread({ unread }: Postings, { terms, avgdl }: Statistics): number {
  const most = new Map<number, number>();
  for (const { term, sk, least } of unread) {
    const asked = terms[term];
    if (asked === undefined) continue;
    // One more than the greatest weight: that of a bound may be rounded the other way.
    const weights = [...decodeLengths(least)].map((len, step) => weight(asked.idf, timesAt(step), len, avgdl) + 1);
    most.set(sk, (most.get(sk) ?? 0) + asked.count * Math.max(...weights));
  }
  return Math.max(0, ...most.values());
}
