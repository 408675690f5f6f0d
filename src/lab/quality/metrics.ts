/** Measures of a list of results, given which memories hold the answer, as shares from 0 to 1. */
export const CUTS = [5, 10, 20, 50] as const;
export const BUDGETS = [512, 1024, 2048] as const;

export type Cut = `${(typeof CUTS)[number]}`;
export type Budget = `${(typeof BUDGETS)[number]}`;
export type At<K extends string> = Readonly<Record<K, number>>;

export interface Answer {
  /**
   * The stored memory of each piece of evidence. Two pieces with the same text share one memory; a piece that was not
   * stored is undefined and cannot be found.
   */
  readonly evidence: readonly (string | undefined)[];
  /** Best first, each once. */
  readonly results: readonly { readonly id: string; readonly tokens: number }[];
}

export interface Scores {
  readonly recall_frac: At<Cut>;
  readonly any: At<Cut>;
  readonly all: At<Cut>;
  readonly ndcg10: number;
  readonly mrr: number;
  readonly budget: At<Budget>;
}

export function scoresOf({ evidence, results }: Answer): Scores {
  if (evidence.length === 0) throw new RangeError("a question without evidence has no score");
  const rankOf = new Map(results.map(({ id }, index) => [id, index + 1]));
  const ranks = evidence.map((id) => (id === undefined ? Infinity : (rankOf.get(id) ?? Infinity)));
  const within = (k: number) => ranks.filter((rank) => rank <= k).length;
  const best = Math.min(...ranks);
  return {
    recall_frac: at(CUTS, (k) => within(k) / ranks.length),
    any: at(CUTS, (k) => (within(k) > 0 ? 1 : 0)),
    all: at(CUTS, (k) => (within(k) === ranks.length ? 1 : 0)),
    ndcg10: ndcg(evidence, ranks),
    mrr: best === Infinity ? 0 : 1 / best,
    budget: at(BUDGETS, (tokens) => within(fitting(results, tokens)) / ranks.length),
  };
}

const DEPTH = 10;
const gain = (rank: number) => 1 / Math.log2(rank + 1);

/** A result that holds two pieces of evidence counts once, in the list and in the ideal list. */
function ndcg(evidence: Answer["evidence"], ranks: readonly number[]): number {
  const missing = evidence.filter((id) => id === undefined).length;
  const relevant = new Set(evidence.filter((id) => id !== undefined)).size + missing;
  const places = [...new Set(ranks)].filter((rank) => rank <= DEPTH);
  let ideal = 0;
  for (let rank = 1; rank <= Math.min(relevant, DEPTH); rank++) ideal += gain(rank);
  return places.reduce((total, rank) => total + gain(rank), 0) / ideal;
}

/** How many results from the top go into a budget: the first that would exceed it ends the list. */
function fitting(results: Answer["results"], budget: number): number {
  let used = 0;
  for (const [index, { tokens }] of results.entries()) {
    used += tokens;
    if (used > budget) return index;
  }
  return results.length;
}

export function meanScores(scores: readonly Scores[]): Scores {
  const mean = (of: (one: Scores) => number) => meanOf(scores.map(of));
  return {
    recall_frac: at(CUTS, (_, k) => mean((one) => one.recall_frac[k])),
    any: at(CUTS, (_, k) => mean((one) => one.any[k])),
    all: at(CUTS, (_, k) => mean((one) => one.all[k])),
    ndcg10: mean((one) => one.ndcg10),
    mrr: mean((one) => one.mrr),
    budget: at(BUDGETS, (_, tokens) => mean((one) => one.budget[tokens])),
  };
}

export const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((total, value) => total + value, 0) / values.length;

function at<N extends number>(keys: readonly N[], of: (key: N, name: `${N}`) => number): At<`${N}`> {
  return Object.fromEntries(keys.map((key) => [`${key}`, of(key, `${key}`)])) as At<`${N}`>;
}
