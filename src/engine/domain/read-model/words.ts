/** The words of the read model: for each shelf and word the slots that have it. Exact BM25, with the same numbers as the index in the store. */
import { type Hit, idf, type Ranking, rankingOf, type Statistics, weight } from "../ranking/words/bm25.ts";
import { countHashes, eachForward } from "../ranking/words/postings.ts";
import { type Arena, openArena } from "./arena.ts";
import { asList, entriesWithin, type PostingList, type Postings, takeFrom, withEntry } from "./posting-list.ts";
import type { ReadWords } from "./rows.ts";
import { openShelves } from "./shelves.ts";

interface Shelf {
  n: number;
  /** Sum of lengths. */
  tl: number;
  /** By hash. */
  readonly lists: Map<number, Postings>;
}

interface Asked {
  readonly hash: number;
  readonly count: number;
}

/** A shelf, and its list of each word that is asked for: looked up once, by whatever number of groups and statistics it is read. */
interface Searched {
  readonly shelf: Shelf;
  readonly lists: readonly (PostingList | undefined)[];
}

export interface Words {
  put(slot: number, words: ReadWords): void;
  drop(slot: number): void;
  /** Number of lexemes and the forward row, as evidence. */
  lengthOf(slot: number): number;
  forwardOf(slot: number): Uint8Array | undefined;
  shelfOf(slot: number): number | undefined;
  /** One ranking for each group of shelves, and the statistics of all of them. */
  rank(words: readonly string[], groups: readonly (readonly number[])[]): Ranked;
}

export interface Ranked {
  readonly rankings: readonly Ranking[];
  readonly statistics: Statistics;
}

/** A slot and how often a word stands in it are one small integer: 22 bits of slot, 8 of tf. */
export const MOST_SLOTS = 2 ** 22;

const ONCE = 256;

export function openWords(idOf: (slot: number) => string): Words {
  const shelves = new Map<number, Shelf>();
  const forwards: Arena = openArena();
  let lengths = new Uint16Array(1024);
  const filed = openShelves();
  const shelfOf = filed.of;
  let sums = new Float64Array(1024);
  let touched = new Int32Array(1024);
  /** The weight of the word at hand in a memory that has it once, by length: one for all words, which are worked on one after the other. */
  const once = new Float64Array(ONCE);

  const shelfAt = (sk: number): Shelf => {
    const known = shelves.get(sk);
    if (known !== undefined) return known;
    const made: Shelf = { n: 0, tl: 0, lists: new Map() };
    shelves.set(sk, made);
    return made;
  };
  const reserve = (slot: number) => {
    if (slot < lengths.length) return;
    const room = Math.ceil(slot * 1.5);
    const grown = new Uint16Array(room);
    grown.set(lengths);
    lengths = grown;
    sums = new Float64Array(room);
    touched = new Int32Array(room);
  };
  const drop = (slot: number) => {
    const sk = shelfOf(slot);
    const forward = forwards.get(slot);
    if (sk === undefined || forward === undefined) return;
    const shelf = shelfAt(sk);
    shelf.n -= 1;
    shelf.tl -= lengths[slot] as number;
    eachForward(forward, (hash, tf) => {
      const kept = shelf.lists.get(hash);
      if (kept !== undefined && takeFrom(kept, slot * 256 + tf) === 0) shelf.lists.delete(hash);
    });
    forwards.drop(slot);
    filed.drop(slot);
  };
  const lookUp = (terms: readonly Asked[], sk: number): Searched[] => {
    const shelf = shelves.get(sk);
    if (shelf === undefined) return [];
    const listOf = (kept: Postings | undefined) => (kept === undefined ? undefined : asList(kept));
    return [{ shelf, lists: terms.map(({ hash }) => listOf(shelf.lists.get(hash))) }];
  };
  const rankOne = (terms: readonly Asked[], searched: readonly Searched[]): Ranking => {
    const statistics = statisticsOf(terms, searched);
    // Constants of this function: what another call may replace is looked up again at each step of a loop.
    const [sum, met, length] = [sums, touched, lengths];
    let count = 0;
    for (let t = 0; t < terms.length; t++) {
      const term = statistics.terms[t] as Statistics["terms"][number];
      // Most memories have a word once and are short: their weight is worked out once for each length.
      once.fill(0);
      for (const { lists } of searched) {
        const list = lists[t];
        if (list === undefined) continue;
        const entries = entriesWithin(list);
        for (let i = 0; i < list.size; i++) {
          const entry = entries[i] as number;
          const slot = entry >>> 8;
          const len = length[slot] as number;
          const isOnce = (entry & 255) === 1 && len < ONCE;
          let add = isOnce ? (once[len] as number) : 0;
          if (add === 0) {
            add = term.count * weight(term.idf, entry & 255, len, statistics.avgdl);
            if (isOnce) once[len] = add;
          }
          const before = sum[slot] as number;
          if (before === 0) met[count++] = slot;
          sum[slot] = before + add;
        }
      }
    }
    const slots = met.slice(0, count);
    const scores = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const slot = slots[i] as number;
      scores[i] = sum[slot] as number;
      sum[slot] = 0;
    }
    const hitAt = (i: number): Hit => {
      const slot = slots[i] as number;
      return { sk: shelfOf(slot) as number, memoryId: idOf(slot), score: scores[i] as number };
    };
    return rankingOf(statistics, scores, hitAt, (i, { ids }) => ids.has(idOf(slots[i] as number)));
  };

  return {
    put(slot, { sk, len, x }) {
      reserve(slot);
      const known = forwards.get(slot);
      if (known !== undefined && shelfOf(slot) === sk && lengths[slot] === len && sameBytes(known, x)) return;
      drop(slot);
      const shelf = shelfAt(sk);
      shelf.n += 1;
      shelf.tl += len;
      lengths[slot] = len;
      filed.put(slot, sk);
      forwards.put(slot, x);
      eachForward(x, (hash, tf) => {
        const kept = shelf.lists.get(hash);
        const next = withEntry(kept, slot * 256 + tf);
        if (next !== kept) shelf.lists.set(hash, next);
      });
    },
    drop,
    lengthOf: (slot) => (shelfOf(slot) === undefined ? 0 : (lengths[slot] as number)),
    forwardOf: forwards.get,
    shelfOf,
    rank(words, groups) {
      const terms = [...countHashes(words)].map(([hash, count]) => ({ hash, count }));
      const found = new Map([...new Set(groups.flat())].map((sk) => [sk, lookUp(terms, sk)]));
      return {
        rankings: groups.map((sks) =>
          rankOne(
            terms,
            [...new Set(sks)].flatMap((sk) => found.get(sk) ?? []),
          ),
        ),
        statistics: statisticsOf(terms, [...found.values()].flat()),
      };
    },
  };
}

function statisticsOf(terms: readonly Asked[], searched: readonly Searched[]): Statistics {
  const n = searched.reduce((sum, { shelf }) => sum + shelf.n, 0);
  const tl = searched.reduce((sum, { shelf }) => sum + shelf.tl, 0);
  return {
    n,
    avgdl: n > 0 ? Math.max(tl, 1) / n : 1,
    terms: terms.map(({ hash, count }, t) => {
      const df = searched.reduce((sum, { lists }) => sum + (lists[t]?.size ?? 0), 0);
      return { hash, count, df, idf: idf(n, df) };
    }),
  };
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
