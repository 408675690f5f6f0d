/** The vectors of the read model by shelf, the bits of their tokens, and the nearest to a question. */

import { withRoom } from "../collections/with-room.ts";
import { kthLargest } from "../ranking/words/bm25.ts";
import { type Arena, openArena } from "./arena.ts";
import { type Codes, openCodes } from "./codes.ts";
import { type Halves, normOf, openHalves, roundedToHalves, type Sums } from "./halves.ts";
import type { ReadVector } from "./rows.ts";
import { openShelves } from "./shelves.ts";

export interface Near {
  readonly slot: number;
  /** 1 − cosine. */
  readonly distance: number;
}

export interface Vectors {
  /** `liveUntil`: until then it may be asked for, faded or not. */
  put(slot: number, vector: ReadVector, liveUntil: number): void;
  /** Moves the times until which it may be asked for; undefined: as it was. */
  see(slot: number, visibleUntil: number | undefined, liveUntil: number): void;
  drop(slot: number): void;
  has(slot: number): boolean;
  shelfOf(slot: number): number | undefined;
  piecesOf(slot: number): number;
  tokensOf(slot: number): Uint8Array | undefined;
  vectorOf(slot: number): Float32Array | undefined;
  /**
   * All of these shelves that are visible after this time, in no order; with `faded` those that are live. The next call may overwrite them. They
   * are kept for the next question of the same shelves, so whoever writes into them says so.
   */
  seen(sks: readonly number[], after: number, faded: boolean, toChange?: boolean): Int32Array;
  isSeen(slot: number, after: number, faded: boolean): boolean;
  /** All of these shelves for which `wanted` holds. */
  among(sks: readonly number[], wanted: (slot: number) => boolean): Int32Array;
  /** The nearest of these slots first. */
  nearest(query: Query, slots: Int32Array, limit: number): Near[];
  /** Of each of these slots, in their order. */
  distances(query: Query, slots: Int32Array): Float64Array;
  queryOf(vector: Float32Array): Query;
}

/** What the list of visible slots was made for: it is the same until the first of them ends, unless something is put, dropped or begins to be visible. */
interface Seen {
  readonly sks: readonly number[];
  readonly faded: boolean;
  readonly from: number;
  until: number;
  readonly count: number;
}

const isOf = ({ sks, faded, from, until }: Seen, asked: readonly number[], after: number, withFaded: boolean) =>
  faded === withFaded &&
  after >= from &&
  after < until &&
  sks.length === asked.length &&
  sks.every((sk, i) => sk === asked[i]);

export interface Query {
  readonly vector: Float32Array;
  readonly norm: number;
}

/**
 * Among more than so many, signs choose those that are compared one by one: a twentieth, from 1,000 in a third of a millisecond to 4,000 in more
 * than one. From 20,000 on it was the most at once, and every search of a store that grew past it took a sixth more of CPU time.
 */
export const comparedOf = (n: number): number => Math.min(4_000, Math.max(1_000, Math.ceil(n / 20)));
/** The mean of so many is near enough to that of all. */
const SAMPLE = 4_096;

export function openVectors(sums: Sums = "in order"): Vectors {
  let dims = 0;
  let halves: Halves | undefined;
  let norms = new Float32Array(0);
  let visible = new Float64Array(0);
  let live = new Float64Array(0);
  let pieces = new Int32Array(0);
  /** Where a slot stands in the list of its shelf. */
  let places = new Int32Array(0);
  // One for all searches: an array of its own for each left 400 KB behind at 100,000 memories, for the collector to come upon some day.
  let seenSlots = new Int32Array(0);
  let lastSeen: Seen | undefined;
  /** A search asks for it twice. */
  let lastQuery: (Query & { readonly given: Float32Array }) | undefined;
  /** The numbers of the vector that is being filed: of arrays outside of the heap the allocator keeps the room long after they are gone. */
  let scratch = new Float32Array(0);
  const shelves = openShelves();
  const shelfOf = shelves.of;
  const lists = new Map<number, number[]>();
  const tokens: Arena = openArena();
  let codes: Codes | undefined;
  /** How many were put so far. */
  let held = 0;

  const reserve = (slot: number) => {
    if (slot < visible.length) return;
    const room = Math.ceil(Math.max(1024, slot * 1.25));
    norms = withRoom(new Float32Array(room), norms);
    visible = withRoom(new Float64Array(room), visible);
    live = withRoom(new Float64Array(room), live);
    pieces = withRoom(new Int32Array(room), pieces);
    places = withRoom(new Int32Array(room), places);
  };
  const dropFromShelf = (slot: number) => {
    const list = lists.get(shelfOf(slot) ?? -1);
    const last = list?.pop();
    if (list !== undefined && last !== undefined && last !== slot) {
      list[places[slot] as number] = last;
      places[last] = places[slot] as number;
    }
    shelves.drop(slot);
  };
  /** Made of the first thousands, or when a shelf is too large to be compared whole; the mean stays what it was then. */
  const codesOf = (held: Halves): Codes => {
    if (codes !== undefined) return codes;
    const all = [...lists.values()].flat();
    const sample = all.slice(0, SAMPLE);
    const mean = new Float32Array(dims);
    for (const slot of sample)
      held.floats(slot, scratch).forEach((value, i) => {
        mean[i] = (mean[i] as number) + value / sample.length;
      });
    codes = openCodes(mean);
    for (const slot of all) codes.put(slot, held.floats(slot, scratch));
    return codes;
  };
  const distances = ({ vector, norm }: Query, slots: Int32Array): Float64Array => {
    const dots = halves?.dots(vector, slots) ?? new Float32Array(0);
    const far = new Float64Array(slots.length);
    for (let i = 0; i < far.length; i++) {
      const cosine = (dots[i] as number) / Math.sqrt((norms[slots[i] as number] as number) * norm);
      far[i] = 1 - Math.min(1, Math.max(-1, cosine));
    }
    return far;
  };

  return {
    put(slot, { sk, visibleUntil, halves: bytes, pieces: count, tokens: bits }, liveUntil) {
      if (dims === 0) {
        dims = bytes.length / 2;
        scratch = new Float32Array(dims);
      }
      if (bytes.length !== dims * 2)
        throw new RangeError(`a vector of ${bytes.length / 2} numbers among those of ${dims}`);
      reserve(slot);
      lastSeen = undefined;
      if (shelfOf(slot) !== sk) {
        dropFromShelf(slot);
        const list = lists.get(sk) ?? [];
        lists.set(sk, list);
        places[slot] = list.push(slot) - 1;
        shelves.put(slot, sk);
      }
      halves ??= openHalves(dims, sums);
      norms[slot] = halves.put(slot, bytes);
      visible[slot] = visibleUntil;
      live[slot] = liveUntil;
      pieces[slot] = count;
      if (bits === undefined) tokens.drop(slot);
      else tokens.put(slot, bits);
      held += 1;
      if (codes !== undefined) codes.put(slot, halves.floats(slot, scratch));
      else if (held >= SAMPLE) codes = codesOf(halves);
    },
    see(slot, until, liveUntil) {
      const visibleUntil = until ?? (visible[slot] as number);
      if (lastSeen !== undefined) {
        const [before, end] = lastSeen.faded
          ? [live[slot] as number, liveUntil]
          : [visible[slot] as number, visibleUntil];
        // What was on the list stays there until its new end; what was not may belong there now.
        if (before > lastSeen.from) lastSeen.until = Math.min(lastSeen.until, end);
        else if (end > lastSeen.from) lastSeen = undefined;
      }
      visible[slot] = visibleUntil;
      live[slot] = liveUntil;
    },
    drop(slot) {
      if (shelfOf(slot) === undefined) return;
      lastSeen = undefined;
      dropFromShelf(slot);
      tokens.drop(slot);
    },
    has: (slot) => shelfOf(slot) !== undefined,
    shelfOf,
    isSeen: (slot, after, faded) => ((faded ? live : visible)[slot] as number) > after,
    piecesOf: (slot) => (shelfOf(slot) === undefined ? 0 : (pieces[slot] as number)),
    tokensOf: (slot) => (shelfOf(slot) === undefined ? undefined : tokens.get(slot)),
    vectorOf: (slot) => (shelfOf(slot) === undefined ? undefined : halves?.floats(slot)),
    seen(sks, after, faded, toChange = false) {
      if (!toChange && lastSeen !== undefined && isOf(lastSeen, sks, after, faded))
        return seenSlots.subarray(0, lastSeen.count);
      const ends = faded ? live : visible;
      const found = sks.map((sk) => lists.get(sk) ?? []);
      const most = found.reduce((sum, list) => sum + list.length, 0);
      if (most > seenSlots.length) seenSlots = new Int32Array(Math.ceil(most * 1.25));
      const all = seenSlots;
      let n = 0;
      let until = Number.POSITIVE_INFINITY;
      for (const list of found)
        for (let i = 0; i < list.length; i++) {
          const slot = list[i] as number;
          const end = ends[slot] as number;
          if (end > after) {
            all[n++] = slot;
            if (end < until) until = end;
          }
        }
      lastSeen = toChange ? undefined : { sks: [...sks], faded, from: after, until, count: n };
      return all.subarray(0, n);
    },
    among(sks, wanted) {
      const all: number[] = [];
      for (const sk of sks) for (const slot of lists.get(sk) ?? []) if (wanted(slot)) all.push(slot);
      return Int32Array.from(all);
    },
    nearest(query, slots, limit) {
      if (halves === undefined) return [];
      const most = Math.max(comparedOf(slots.length), limit * 4);
      const close = slots.length <= most ? slots : codesOf(halves).nearest(query.vector, slots, most);
      const far = distances(query, close);
      const furthest = far.length <= limit ? 2 : -kthLargest(closenessOf(far), limit);
      const found: Near[] = [];
      for (let i = 0; i < far.length; i++)
        if ((far[i] as number) <= furthest) found.push({ slot: close[i] as number, distance: far[i] as number });
      return found.sort((a, b) => a.distance - b.distance).slice(0, limit);
    },
    distances,
    queryOf(given) {
      if (lastQuery?.given === given) return lastQuery;
      const vector = sums === "in order" ? given : roundedToHalves(given);
      lastQuery = { given, vector, norm: normOf(sums, vector.length, (i) => vector[i] as number) };
      return lastQuery;
    },
  };
}

/** The larger the nearer; what is no distance is the furthest. */
function closenessOf(far: Float64Array): Float64Array {
  const close = new Float64Array(far.length);
  for (let i = 0; i < far.length; i++) {
    const distance = far[i] as number;
    close[i] = distance <= 2 ? -distance : Number.NEGATIVE_INFINITY;
  }
  return close;
}
