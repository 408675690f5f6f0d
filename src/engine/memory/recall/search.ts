/** Finds memories by words and meaning, best first, and explains the numbers behind each result. */

import { meanwhile } from "../../adapters/turns.ts";
import { isUntrusted } from "../../domain/lifecycle/quarantine.ts";
import type { Tier } from "../../domain/lifecycle/tiers.ts";
import { MEMORY_TYPES, type MemoryType } from "../../domain/memory-types.ts";
import { FITS, type Floor, isAbove } from "../../domain/ranking/fit.ts";
import type { IntentReading } from "../../domain/ranking/intent.ts";
import { type Reading, SIGNALS, type Signal, type SignalName } from "../../domain/ranking/reading.ts";
import { readableScopes } from "../../domain/scope.ts";
import type { Candidate } from "../../store/index/search.ts";
import type { Call } from "../memory.ts";
import { retrieveThen } from "../past/as-of.ts";
import { atThatTime } from "../past/past.ts";
import { measureReturned } from "./measure.ts";
import { intentOf, type RankedResult, rankResults } from "./rank-results.ts";
import { reference } from "./reference.ts";
import { type Mode, type Retrieval, type Retrieved, type RetrieveQuery, retrieve } from "./retrieve.ts";

export interface SearchInput {
  readonly query: string;
  readonly types?: readonly MemoryType[] | undefined;
  readonly scope?: string | undefined;
  readonly mode?: Mode | undefined;
  readonly limit?: number | undefined;
  readonly min_confidence?: number | undefined;
  /** Results whose fit or relevance is below it are not returned. */
  readonly min_relevance?: number | undefined;
  readonly tier?: Tier | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly rank?: "relevance" | "composite" | undefined;
  readonly explain?: boolean | undefined;
  /** Answer as it would have been answered then. */
  readonly as_of?: Date | undefined;
}

export interface SearchAnswer {
  readonly as_of?: string;
  readonly results: readonly SearchResult[];
  readonly mode: Mode;
  readonly degraded?: string;
}

export type SearchResult = ReturnType<typeof present>;

export async function search(call: Call, input: SearchInput): Promise<SearchAnswer> {
  const query = searchQuery(call, input);
  const asked = input.as_of === undefined ? call : await atThatTime(call, input.as_of);
  const [retrieval, intent] = await Promise.all([
    input.as_of === undefined ? retrieve(asked, query) : retrieveThen(asked, query),
    meanwhile(() => intentOf(call, input.query)),
  ]);
  const floor = floorOf(call, input);
  const above = retrieval.results.filter((found) => isAbove(floor, found));
  const shown = rankForSearch(asked, input.rank, above, intent).slice(0, query.wanted);
  const results = shown.map((found) => present(found, input.explain ? explain(found, retrieval, intent) : undefined));
  // Only what fits counts as referenced, not the best of what does not. Reading the past counts nothing.
  if (input.as_of === undefined) {
    measureReturned(call, "search", shown);
    reference(
      call,
      shown.filter(({ fit }) => fit >= FITS).map(({ candidate }) => candidate),
    );
  }
  return {
    results,
    mode: retrieval.mode,
    ...(input.as_of === undefined ? {} : { as_of: input.as_of.toISOString() }),
    ...(retrieval.degraded ? { degraded: retrieval.degraded } : {}),
  };
}

export function searchQuery({ memory: { settings }, caller }: Call, input: SearchInput): RetrieveQuery {
  return {
    text: input.query,
    mode: input.mode ?? settings.retrieval.default_mode,
    types: input.types ?? MEMORY_TYPES,
    scopes: readableScopes(caller, input.scope),
    minConfidence: input.min_confidence ?? settings.facts.retrieval_confidence_threshold,
    tags: input.tags,
    tier: input.tier,
    wanted: input.limit ?? settings.retrieval.default_limit,
  };
}

export const floorOf = ({ memory }: Call, { min_relevance }: Pick<SearchInput, "min_relevance">): Floor => ({
  least: min_relevance ?? memory.settings.retrieval.min_relevance,
  asked: min_relevance !== undefined,
});

/** All that was found, in the order of a search; the limit cuts it. */
export function rankForSearch(
  call: Call,
  rank: SearchInput["rank"],
  results: readonly Retrieved[],
  { intent }: IntentReading,
): RankedResult[] {
  const since = (c: Candidate) => c.last_referenced_at ?? c.created_at;
  return rankResults(call, results, { rank: rank ?? "relevance", intent, since });
}

export interface RecallInput {
  readonly topic: string;
  readonly scope?: string | undefined;
  readonly limit?: number | undefined;
  readonly explain?: boolean | undefined;
}

/** Facts and rules about a topic, by the composite score. */
export function recall(call: Call, input: RecallInput): Promise<SearchAnswer> {
  return search(call, {
    query: input.topic,
    scope: input.scope,
    limit: input.limit ?? Math.min(10, call.memory.settings.retrieval.default_limit),
    types: ["fact", "rule"],
    rank: "composite",
    explain: input.explain,
  });
}

function present(found: RankedResult, why: Explanation | undefined) {
  const { candidate: c } = found;
  return {
    type: c.type,
    id: c.id,
    content: c.content,
    score: found.score,
    relevance: found.relevance,
    importance: c.importance,
    recency: found.recency,
    effective_confidence: found.effectiveConfidence,
    scope: c.scope,
    state: c.state,
    trust: c.trust,
    ...(isUntrusted(c.trust) ? { corroborated: c.corroborated_at !== null } : {}),
    tags: [...c.tags],
    created_at: c.created_at.toISOString(),
    ...(c.type === "fact" ? { subject: c.subject ?? "", predicate: c.predicate ?? "", permanence: c.permanence } : {}),
    ...(c.type === "rule"
      ? { maturity: c.maturity, effectiveness: c.effectiveness, warning: c.maturity === "anti_pattern" }
      : {}),
    ...(c.type === "episode"
      ? {
          tier: c.tier,
          session_id: c.session_id,
          speaker: c.speaker,
          occurred_at: c.occurred_at?.toISOString(),
          expires_at: c.expires_at?.toISOString(),
        }
      : {}),
    ...(why === undefined ? {} : { explain: why }),
  };
}

export type Explanation = ReturnType<typeof explain>;

/** Every number behind a rank: ranks in the two arms, signals raw and scaled, the intent, and what demoted it. */
export function explain(found: RankedResult, { reranked }: Retrieval, intent: IntentReading) {
  const { candidate: c, reading } = found;
  return {
    keyword_rank: found.arms.keywordRank(found.id) ?? null,
    keyword_score: c.keyword === null ? null : c.keyword / 1e6,
    semantic_rank: found.arms.semanticRank(found.id) ?? null,
    cosine: c.distance === null ? null : 1 - c.distance,
    reranked,
    ...(reading === undefined ? {} : { signals: signalsOf(reading) }),
    fit: found.fit,
    composite: found.composite,
    intent: { intent: intent.intent, because: [...intent.because] },
    ...(found.demoted === undefined ? {} : { demoted: { key: found.demoted.key, by: found.demoted.by } }),
    confidence: c.confidence,
    decay_per_day: c.decay_rate,
    last_confirmed_at: c.last_confirmed_at.toISOString(),
    reference_count: c.reference_count,
  };
}

const signalsOf = (reading: Reading): Record<SignalName, Signal> =>
  Object.fromEntries(SIGNALS.map((name) => [name, reading[name]])) as Record<SignalName, Signal>;
