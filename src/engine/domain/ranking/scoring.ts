/** Four signals, each in 0..1, and one weighted sum. */
import { DAY_MS } from "../lifecycle/decay.ts";
import { MATURITY_WEIGHT, type Maturity } from "../lifecycle/maturity.ts";

export interface ScoreWeights {
  readonly relevance: number;
  readonly importance: number;
  readonly recency: number;
  readonly confidence: number;
}

export const RECENCY_HALF_LIFE_DAYS = 7;

export function recency(since: Date, now: Date): number {
  const days = Math.max(0, now.getTime() - since.getTime()) / DAY_MS;
  return 2 ** (-days / RECENCY_HALF_LIFE_DAYS);
}

/**
 * The moment recency counts from when the answer must be the same bytes all day: a reference made today counts from
 * tomorrow, otherwise reading a context block would reorder the next one.
 */
export function settledReference(
  times: { last_referenced_at: Date | null; prior_referenced_at: Date | null; created_at: Date },
  now: Date,
): Date {
  const { last_referenced_at: last, prior_referenced_at: prior, created_at } = times;
  if (last === null) return created_at;
  return dayOf(last) < dayOf(now) ? last : (prior ?? created_at);
}

export const dayOf = (at: Date): number => Math.floor(at.getTime() / DAY_MS);

export interface Signals {
  readonly relevance: number;
  /** 0..10 as stored. */
  readonly importance: number;
  readonly recency: number;
  readonly confidence: number;
  readonly maturity?: Maturity;
}

export function compositeScore(signals: Signals, weights: ScoreWeights): number {
  const sum =
    weights.relevance * signals.relevance +
    weights.importance * (signals.importance / 10) +
    weights.recency * signals.recency +
    weights.confidence * signals.confidence;
  return signals.maturity === undefined ? sum : sum * MATURITY_WEIGHT[signals.maturity];
}

export interface Ranked {
  readonly score: number;
  readonly created_at: Date;
  readonly id: string;
}

/** score DESC, created_at DESC, id ASC: a total order, so that the same memories always come in the same order. */
export function byRank(a: Ranked, b: Ranked): number {
  return (
    b.score - a.score || b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  );
}
