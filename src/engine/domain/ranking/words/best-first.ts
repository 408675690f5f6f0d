/** A ranking that reads more when more is asked of it. */
import {
  foundIn,
  type Hit,
  type Members,
  type Postings,
  pageOf,
  placesOf,
  type Ranking,
  type Statistics,
  scoreOf,
} from "./bm25.ts";
import { uuidText } from "./postings.ts";

export interface BestFirst extends Statistics {
  top(k: number, offset?: number): Promise<readonly Hit[]>;
  topAmong(k: number, members: Members): Promise<readonly Hit[]>;
  /** For what only the whole ranking can tell. */
  whole(): Promise<Ranking>;
}

/** One of which everything has been read. */
export const readWhole = (ranking: Ranking): BestFirst => ({
  ...{ n: ranking.n, avgdl: ranking.avgdl, terms: ranking.terms },
  top: async (k, offset) => ranking.top(k, offset),
  topAmong: async (k, members) => ranking.topAmong(k, members),
  whole: async () => ranking,
});

/** A folded memory by its shelf and slot. */
export interface Place {
  readonly sk: number;
  readonly slot: number;
}

export interface ForwardRow extends Place {
  readonly len: number;
  readonly x: Uint8Array;
}

/** Those of the members that are folded, on these shelves. */
export const placesAmong = ({ shelves }: Postings, { slots }: Members): readonly Place[] =>
  shelves.flatMap(({ sk }) => [...(slots.get(sk) ?? [])].map((slot) => ({ sk, slot })));

/** The best k of some members by their forward rows, to the end of the last tie; `rows` are those of the folded ones. */
export function bestAmong(
  { fresh, gone }: Postings,
  statistics: Statistics,
  rows: readonly ForwardRow[],
  k: number,
  { ids }: Members,
): readonly Hit[] {
  const termOf = placesOf(statistics.terms);
  const score = ({ x, len }: { x: Uint8Array; len: number }) => scoreOf(foundIn(x, termOf), len, statistics);
  const removed = new Set(gone.map(({ sk, slot }) => `${sk} ${slot}`));
  const folded = rows.filter(({ sk, slot }) => !removed.has(`${sk} ${slot}`));
  const hits: Hit[] = [
    ...folded.map((row): Hit => ({ sk: row.sk, slot: row.slot, score: score(row) })),
    ...fresh.flatMap((row): Hit[] => {
      const memoryId = uuidText(row.id);
      return ids.has(memoryId) ? [{ sk: row.sk, memoryId, score: score(row) }] : [];
    }),
  ];
  const met = hits.filter((hit) => hit.score > 0).toSorted((a, b) => b.score - a.score);
  return pageOf(met, k, 0);
}
