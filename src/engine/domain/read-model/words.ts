/** The words of the read model: for each shelf and word the slots that have it. Exact BM25, with the same numbers as the index in the store. */
import {
  foundIn,
  type Hit,
  idf,
  type Members,
  pageOf,
  placesOf,
  type Ranking,
  rankingOf,
  type Statistics,
  scoreOf,
} from "../ranking/words/bm25.ts";
import { countHashes, eachForward } from "../ranking/words/postings.ts";
import { type Arena, openArena } from "./arena.ts";
import { asList, type PostingList, type Postings, takeFrom, withEntry } from "./posting-list.ts";
import type { ReadWords } from "./rows.ts";
import { openShelves } from "./shelves.ts";
import { openWordSums, type Summed } from "./word-sums.ts";

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
  /**
   * One ranking for each group of shelves, and the statistics of all of them. `depth`: how many of each will be asked for at first, by the
   * number of memories.
   */
  rank(words: readonly string[], groups: readonly (readonly number[])[], depth: (memories: number) => number): Ranked;
}

export interface Ranked {
  readonly rankings: readonly Ranking[];
  readonly statistics: Statistics;
}

/** A slot and how often a word stands in it are one small integer: 22 bits of slot, 8 of tf. */
export const MOST_SLOTS = 2 ** 22;

export function openWords(idOf: (slot: number) => string, slotOf: (id: string) => number | undefined): Words {
  const shelves = new Map<number, Shelf>();
  const forwards: Arena = openArena();
  const filed = openShelves();
  const shelfOf = filed.of;
  const sums = openWordSums();

  const shelfAt = (sk: number): Shelf => {
    const known = shelves.get(sk);
    if (known !== undefined) return known;
    const made: Shelf = { n: 0, tl: 0, lists: new Map() };
    shelves.set(sk, made);
    return made;
  };
  const drop = (slot: number) => {
    const sk = shelfOf(slot);
    const forward = forwards.get(slot);
    if (sk === undefined || forward === undefined) return;
    const shelf = shelfAt(sk);
    shelf.n -= 1;
    shelf.tl -= sums.lengthOf(slot);
    eachForward(forward, (hash, tf) => {
      const kept = shelf.lists.get(hash);
      if (kept !== undefined && takeFrom(kept, slot * 256 + tf) === 0) shelf.lists.delete(hash);
    });
    forwards.drop(slot);
    filed.drop(slot);
  };
  const searchedOn = (terms: readonly Asked[], sks: readonly number[]): Searched[] =>
    [...new Set(sks)].flatMap((sk) => {
      const shelf = shelves.get(sk);
      return shelf === undefined ? [] : { shelf, lists: terms.map(({ hash }) => listed(shelf.lists.get(hash))) };
    });
  const rankingFrom = (statistics: Statistics, { slots, scores }: Summed): Ranking => {
    const hitAt = (i: number): Hit => {
      const slot = slots[i] as number;
      return { sk: shelfOf(slot) as number, memoryId: idOf(slot), score: scores[i] as number, place: slot };
    };
    return rankingOf(statistics, scores, hitAt, (i, { ids }) => ids.has(idOf(slots[i] as number)));
  };
  /** By the words of each member: they are hundreds at most, while tens of thousands may have a word of the question. */
  const topAmong = (statistics: Statistics, sks: ReadonlySet<number>): Ranking["topAmong"] => {
    const termOf = placesOf(statistics.terms);
    let last: { readonly k: number; readonly members: Members; readonly hits: readonly Hit[] } | undefined;
    const hitOf = (memoryId: string): Hit[] => {
      const slot = slotOf(memoryId);
      const sk = slot === undefined ? undefined : shelfOf(slot);
      const words = slot === undefined ? undefined : forwards.get(slot);
      if (slot === undefined || sk === undefined || words === undefined || !sks.has(sk)) return [];
      const score = scoreOf(foundIn(words, termOf), sums.lengthOf(slot), statistics);
      return score > 0 ? [{ sk, memoryId, score, place: slot }] : [];
    };
    return (k, members) => {
      if (last?.k === k && last.members === members) return last.hits;
      const met = [...members.ids].flatMap(hitOf).sort((a, b) => b.score - a.score);
      last = { k, members, hits: pageOf(met, k, 0) };
      return last.hits;
    };
  };
  const rankOne = (terms: readonly Asked[], sks: readonly number[], searched: readonly Searched[], k: number) => {
    const statistics = statisticsOf(terms, searched);
    const summed = sums.sumUp(statistics, listsOf(terms, searched), k);
    const best = rankingFrom(statistics, summed);
    if (best.total === summed.total) return best;
    const lists = () => listsOf(terms, searchedOn(terms, sks));
    const whole = () => rankingFrom(statistics, sums.sumUp(statistics, lists(), Infinity));
    return withWhole({ ...best, topAmong: topAmong(statistics, new Set(sks)) }, summed.total, whole);
  };

  return {
    put(slot, { sk, len, x }) {
      const known = forwards.get(slot);
      if (known !== undefined && shelfOf(slot) === sk && sums.lengthOf(slot) === len && sameBytes(known, x)) return;
      drop(slot);
      const shelf = shelfAt(sk);
      shelf.n += 1;
      shelf.tl += len;
      sums.setLength(slot, len);
      filed.put(slot, sk);
      forwards.put(slot, x);
      eachForward(x, (hash, tf) => {
        const kept = shelf.lists.get(hash);
        const next = withEntry(kept, slot * 256 + tf);
        if (next !== kept) shelf.lists.set(hash, next);
      });
    },
    drop,
    lengthOf: (slot) => (shelfOf(slot) === undefined ? 0 : sums.lengthOf(slot)),
    forwardOf: forwards.get,
    shelfOf,
    rank(words, groups, depth) {
      const terms = [...countHashes(words)].map(([hash, count]) => ({ hash, count }));
      const found = new Map([...new Set(groups.flat())].map((sk) => [sk, searchedOn(terms, [sk])]));
      const statistics = statisticsOf(terms, [...found.values()].flat());
      const k = depth(statistics.n);
      const rankings = groups.map((sks) => {
        const searched = [...new Set(sks)].flatMap((sk) => found.get(sk) ?? []);
        return rankOne(terms, sks, searched, k);
      });
      return { rankings, statistics };
    },
  };
}

const listed = (kept: Postings | undefined): PostingList | undefined => (kept === undefined ? undefined : asList(kept));

const listsOf = (terms: readonly Asked[], searched: readonly Searched[]): PostingList[][] =>
  terms.map((_, t) => searched.flatMap(({ lists }) => lists[t] ?? []));

/** The best as far as they go. What is deeper, or asked of all, is summed up when it is asked for. */
function withWhole(best: Ranking, total: number, sumUp: () => Ranking): Ranking {
  let summed: Ranking | undefined;
  const whole = () => {
    summed ??= sumUp();
    return summed;
  };
  return {
    ...{ n: best.n, avgdl: best.avgdl, terms: best.terms, total },
    top: (k, offset = 0) => (offset + k <= best.total ? best : whole()).top(k, offset),
    topAmong: best.topAmong,
    above: (score) => whole().above(score),
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
