/** Ranks results: by relevance or by the composite score, shifted a little by the intent of the question, then diversified. */
import { clusterKeys, type Demoted, diversify } from "../../domain/ranking/diversify.ts";
import { type Intent, type IntentReading, readIntent, routed, typeLean } from "../../domain/ranking/intent.ts";
import { byRank, compositeScore, recency, type ScoreWeights } from "../../domain/ranking/scoring.ts";
import type { Candidate } from "../../store/index/search.ts";
import type { Call } from "../memory.ts";
import type { Retrieved } from "./retrieve.ts";

export interface RankedResult extends Retrieved {
  readonly id: string;
  readonly created_at: Date;
  readonly score: number;
  readonly recency: number;
  readonly composite: number;
  /** Set when it was moved behind others of nearly the same score. */
  readonly demoted: Demoted | undefined;
}

/** Before it is known who gives way. */
type Ranking = Omit<RankedResult, "demoted"> & { demoted: Demoted | undefined };

export interface RankOptions {
  readonly rank: "relevance" | "composite";
  readonly intent: Intent;
  /** The time from which recency is counted. */
  readonly since: (candidate: Candidate) => Date;
}

const UNREAD: IntentReading = { intent: "other", confidence: 0, because: [] };

export const intentOf = ({ memory }: Call, text: string): IntentReading =>
  memory.settings.retrieval.intent_routing ? readIntent(text) : UNREAD;

/** After three of one subject or predicate, others of nearly the same score come first. */
const CAP = 3;

export function rankResults(call: Call, results: readonly Retrieved[], options: RankOptions): RankedResult[] {
  const { score_weights, quotas } = call.memory.settings.retrieval;
  const { weights } = routed(score_weights, quotas, options.intent);
  const ranked = results.map((found) => rankedResult(call.now, found, options, weights)).toSorted(byRank);
  if (!call.memory.settings.retrieval.diversify) return ranked;
  const { items, demoted } = diversify(ranked, { keysOf: ({ candidate }) => clusterKeys(candidate), cap: CAP });
  if (demoted.length === 0) return [...items];
  const why = new Map(demoted.map((entry) => [entry.id, entry]));
  for (const item of items) item.demoted = why.get(item.id);
  return [...items];
}

function rankedResult(
  now: Date,
  found: Retrieved,
  { rank, intent, since }: RankOptions,
  weights: ScoreWeights,
): Ranking {
  const { candidate: c, relevance } = found;
  const recent = recency(since(c), now);
  const signals = {
    relevance,
    importance: c.importance,
    recency: recent,
    confidence: found.effectiveConfidence,
    ...(c.maturity === null ? {} : { maturity: c.maturity }),
  };
  const composite = compositeScore(signals, weights) + typeLean(intent)[c.type];
  const score = rank === "composite" ? composite : relevance;
  return {
    candidate: c,
    relevance,
    fit: found.fit,
    effectiveConfidence: found.effectiveConfidence,
    arms: found.arms,
    reading: found.reading,
    id: c.id,
    created_at: c.created_at,
    score,
    recency: recent,
    composite,
    demoted: undefined,
  };
}
