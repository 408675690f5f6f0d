/** What each arm of a search found, in its order, and the place of a memory there. */
import type { Candidate } from "../../store/index/search.ts";

/** Where a memory stands in each arm, of those that were found; undefined where the arm did not bring it. */
export interface Arms {
  keywordRank(id: string): number | undefined;
  semanticRank(id: string): number | undefined;
}

interface ArmLists extends Arms {
  byKeyword(): readonly Candidate[];
  byMeaning(): readonly Candidate[];
}

/** Most answers show no ranks: lists and ranks are made when somebody asks for them. */
export function armsOf(good: readonly Candidate[]): ArmLists {
  const byKeyword = once(() =>
    good.filter((c) => c.keyword !== null).toSorted((a, b) => (b.keyword ?? 0) - (a.keyword ?? 0) || order(a, b)),
  );
  const byMeaning = once(() =>
    good.filter((c) => c.distance !== null).toSorted((a, b) => (a.distance ?? 0) - (b.distance ?? 0) || order(a, b)),
  );
  const keywordRanks = once(() => ranks(byKeyword()));
  const semanticRanks = once(() => ranks(byMeaning()));
  return {
    byKeyword,
    byMeaning,
    keywordRank: (id) => keywordRanks().get(id),
    semanticRank: (id) => semanticRanks().get(id),
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const order = (a: Candidate, b: Candidate) => b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? -1 : 1);
const ranks = (list: readonly Candidate[]) => new Map(list.map((c, index) => [c.id, index + 1]));
