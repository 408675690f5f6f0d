import { ENTRY_BYTES, eachForward } from "./postings.ts";

/**
 * Exact BM25 over posting blocks and the rows that are not in blocks yet. k1 = 1.2, b = 0.75,
 * idf = ln(1 + (N − df + ½)/(df + ½)), with N, df and the average length taken over all shelves asked for.
 * Each term's weight is rounded to an integer: sums no longer depend on their order, so a memory has the same score
 * whether it is folded or not, on either store.
 */
export const K1 = 1.2;
export const B = 0.75;
/** What a score of 1 is counted as. */
export const UNIT = 1e6;

interface Term {
  readonly hash: number;
  /** How often the query says it. */
  readonly count: number;
}

export interface Shelf {
  readonly sk: number;
  readonly n: number;
  readonly tl: number;
  readonly slots: number;
}

/** One statement's view of the lexical tables: a single snapshot, so the three parts always agree. */
export interface Postings {
  readonly terms: readonly Term[];
  readonly shelves: readonly Shelf[];
  /** Block entries of one term in one shelf, in no order. */
  readonly blocks: readonly { readonly term: number; readonly sk: number; readonly x: Uint8Array }[];
  /**
   * Lists of which only slots and tfs were read: a term in one shelf, how many memories have it, what bounds its weight (bounds.ts), and
   * its slim blocks.
   */
  readonly unread: readonly {
    readonly term: number;
    readonly sk: number;
    readonly df: number;
    readonly least: Uint8Array;
    readonly slim: Uint8Array;
  }[];
  /** Written, not folded. `id` is the memory's uuid in 16 bytes: only the few that are shown become text. */
  readonly fresh: readonly {
    readonly id: Uint8Array;
    readonly sk: number;
    readonly len: number;
    readonly x: Uint8Array;
  }[];
  /** Removed, still in the blocks and in the shelf's counters. */
  readonly gone: readonly {
    readonly sk: number;
    readonly slot: number;
    readonly len: number;
    readonly x: Uint8Array;
  }[];
}

export type Hit =
  | { readonly sk: number; readonly slot: number; readonly score: number }
  /** `place`: its slot in the read model when it was found, which may be another's since. */
  | { readonly sk: number; readonly memoryId: string; readonly score: number; readonly place?: number };

/** Some of the memories in the shelves: folded ones by shelf and slot, the others by id. */
export interface Members {
  readonly slots: ReadonlyMap<number, ReadonlySet<number>>;
  readonly ids: ReadonlySet<string>;
}

export interface Ranking {
  /** Memories in these shelves, and their average length in lexemes. */
  readonly n: number;
  readonly avgdl: number;
  readonly terms: readonly (Term & { readonly df: number; readonly idf: number })[];
  /** Memories with at least one of the terms. */
  readonly total: number;
  /**
   * Ranks offset…offset+k of the ranking, best first, prolonged to the end of the last tie: `offset + result.length` is
   * where to go on. The order inside a tie is settled by memory id, which only the database knows (see resolveHits).
   */
  top(k: number, offset?: number): readonly Hit[];
  /** The best k of these members, prolonged to the end of the last tie. Asked for the same again, it gives the same. */
  topAmong(k: number, members: Members): readonly Hit[];
  /** How many have a higher score. */
  above(score: number): number;
}

export const idf = (n: number, df: number): number => Math.log(1 + (n - df + 0.5) / (df + 0.5));

/** At least 1: a term that every memory has would round to 0, and 0 means "not met". */
export const weight = (termIdf: number, tf: number, len: number, avgdl: number): number =>
  Math.max(1, Math.floor(((K1 + 1) * UNIT * termIdf * tf) / (tf + K1 * (1 - B) + (K1 * B * len) / avgdl) + 0.5));

/** The query's terms in one memory. */
export type Found = readonly { readonly term: number; readonly tf: number }[];

/** The query's terms in a forward row. Most of a row's lexemes are not asked for, so this is done once a row. */
export function foundIn(x: Uint8Array, termOf: ReadonlyMap<number, number>): Found {
  const found: { term: number; tf: number }[] = [];
  eachForward(x, (hash, tf) => {
    const term = termOf.get(hash);
    if (term !== undefined) found.push({ term, tf });
  });
  return found;
}

/** The counters know folded rows only: unfolded ones are added, removed ones taken away. */
function count(postings: Postings, fresh: readonly Found[], gone: readonly Found[]) {
  const df: number[] = postings.terms.map(() => 0);
  const add = (term: number, by: number) => {
    df[term] = (df[term] ?? 0) + by;
  };
  for (const block of postings.blocks) add(block.term, block.x.length / ENTRY_BYTES);
  for (const list of postings.unread) add(list.term, list.df);
  for (const { term } of fresh.flat()) add(term, 1);
  for (const { term } of gone.flat()) add(term, -1);
  const lengths = (rows: readonly { readonly len: number }[]) => rows.reduce((sum, row) => sum + row.len, 0);
  const n = postings.shelves.reduce((sum, shelf) => sum + shelf.n, 0) + fresh.length - gone.length;
  const tl =
    postings.shelves.reduce((sum, shelf) => sum + shelf.tl, 0) + lengths(postings.fresh) - lengths(postings.gone);
  return { n, df, avgdl: n > 0 ? Math.max(tl, 1) / n : 1 };
}

/** How many memories there are, how long, and how rare each term is: over all shelves of the postings. */
export type Statistics = Pick<Ranking, "n" | "avgdl" | "terms">;

export const statisticsOf = (postings: Postings): Statistics => survey(postings).statistics;

/** The place of each term in the list of them. */
export const placesOf = (terms: readonly Term[]): ReadonlyMap<number, number> =>
  new Map(terms.map((term, i) => [term.hash, i]));

/** The sum of the weights of what a memory of this length has. */
export function scoreOf(found: Found, len: number, { terms, avgdl }: Statistics): number {
  let score = 0;
  for (const { term, tf } of found) {
    const asked = terms[term];
    if (asked !== undefined) score += asked.count * weight(asked.idf, tf, len, avgdl);
  }
  return score;
}

export function survey(postings: Postings): { statistics: Statistics; fresh: readonly Found[] } {
  const termOf = placesOf(postings.terms);
  const fresh = postings.fresh.map((row) => foundIn(row.x, termOf));
  const gone = postings.gone.map((row) => foundIn(row.x, termOf));
  const { n, df, avgdl } = count(postings, fresh, gone);
  const terms = postings.terms.map((term, i) => ({ ...term, df: df[i] as number, idf: idf(n, df[i] as number) }));
  return { statistics: { n, avgdl, terms }, fresh };
}

/** A ranking of what has a score: the i-th of them is `hitAt(i)`. */
export function rankingOf(
  { n, avgdl, terms }: Statistics,
  scores: Float64Array,
  hitAt: (i: number) => Hit,
  isAmong: (i: number, members: Members) => boolean,
): Ranking {
  let last: { readonly k: number; readonly members: Members; readonly hits: readonly Hit[] } | undefined;
  const topAmong = (k: number, members: Members): readonly Hit[] => {
    if (last?.k === k && last.members === members) return last.hits;
    const among: number[] = [];
    for (let i = 0; i < scores.length; i++) if (isAmong(i, members)) among.push(i);
    const least =
      among.length <= k
        ? 0
        : kthLargest(
            Float64Array.from(among, (i) => scores[i] as number),
            k,
          );
    const hits = among
      .filter((i) => (scores[i] as number) >= least)
      .sort((a, b) => (scores[b] as number) - (scores[a] as number))
      .map(hitAt);
    last = { k, members, hits };
    return hits;
  };
  const above = (score: number): number => scores.reduce((sum, other) => (other > score ? sum + 1 : sum), 0);
  return { n, avgdl, terms, total: scores.length, top: lazyTop(scores, hitAt), topAmong, above };
}

/** Sorts only as deep as a caller has asked: 100 of 24,000 matches need no full sort. */
function lazyTop(scores: Float64Array, hitAt: (i: number) => Hit): Ranking["top"] {
  let hits: readonly Hit[] = [];
  const deepen = (depth: number) => {
    const least = depth >= scores.length ? 0 : kthLargest(scores, depth);
    const chosen: number[] = [];
    for (let i = 0; i < scores.length; i++) if ((scores[i] as number) >= least) chosen.push(i);
    chosen.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
    hits = chosen.map(hitAt);
  };
  return (k, offset = 0) => {
    if (k <= 0) return [];
    if (hits.length < offset + k && hits.length < scores.length) deepen(Math.max(offset + k, 2 * hits.length));
    return pageOf(hits, k, offset);
  };
}

/** Ranks offset…offset+k of hits that are in order, to the end of the last tie. */
export function pageOf(hits: readonly Hit[], k: number, offset: number): readonly Hit[] {
  let end = Math.min(offset + k, hits.length);
  while (end < hits.length && end > 0 && hits[end]?.score === hits[end - 1]?.score) end++;
  return hits.slice(offset, end);
}

/** The k best so far are a heap whose root is the least of them: most scores are not above it, and cost one comparison. */
export function kthLargest(scores: Float64Array, k: number): number {
  const heap = scores.slice(0, k).sort();
  for (let i = k; i < scores.length; i++) {
    const score = scores[i] as number;
    if (score <= (heap[0] as number)) continue;
    let at = 0;
    for (let child = 1; child < k; child = 2 * at + 1) {
      if (child + 1 < k && (heap[child + 1] as number) < (heap[child] as number)) child++;
      if ((heap[child] as number) >= score) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = score;
  }
  return heap[0] as number;
}
