/** Finds memories by words and meaning, best first, and says how each signal came about. */
import { MEMORY_TYPES, type MemoryType } from "../domain/memory-types.ts";
import { readableScopes } from "../domain/scope.ts";
import { byRank, compositeScore, recency } from "../domain/scoring.ts";
import type { Tier } from "../domain/tiers.ts";
import { retrieveThen } from "./as-of.ts";
import type { Call } from "./memory.ts";
import { atThatTime } from "./past.ts";
import { reference } from "./reference.ts";
import { type Mode, type Retrieved, type RetrieveQuery, retrieve } from "./retrieve.ts";

export interface SearchInput {
  readonly query: string;
  readonly types?: readonly MemoryType[] | undefined;
  readonly scope?: string | undefined;
  readonly mode?: Mode | undefined;
  readonly limit?: number | undefined;
  readonly min_confidence?: number | undefined;
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
  const { settings } = call.memory;
  const limit = input.limit ?? settings.retrieval.default_limit;
  const query: RetrieveQuery = {
    text: input.query,
    mode: input.mode ?? settings.retrieval.default_mode,
    types: input.types ?? MEMORY_TYPES,
    scopes: readableScopes(call.caller, input.scope),
    minConfidence: input.min_confidence ?? settings.facts.retrieval_confidence_threshold,
    tags: input.tags,
    tier: input.tier,
    wanted: limit,
  };
  const asked = input.as_of === undefined ? call : atThatTime(call, input.as_of);
  const retrieval = await (input.as_of === undefined ? retrieve(asked, query) : retrieveThen(asked, query));
  const results = retrieval.results
    .map((found) => present(asked, found, input.rank ?? "relevance", input.explain ?? false))
    .toSorted((a, b) => byRank(rankOf(a), rankOf(b)))
    .slice(0, limit);
  // A look into the past is no reason to keep a memory.
  if (input.as_of === undefined) reference(call, results);
  return {
    results,
    mode: retrieval.mode,
    ...(input.as_of === undefined ? {} : { as_of: input.as_of.toISOString() }),
    ...(retrieval.degraded ? { degraded: retrieval.degraded } : {}),
  };
}

export interface RecallInput {
  readonly topic: string;
  readonly scope?: string | undefined;
  readonly limit?: number | undefined;
}

/** Facts and rules by the composite score: what is known about a topic, and how to behave there. */
export function recall(call: Call, input: RecallInput): Promise<SearchAnswer> {
  return search(call, {
    query: input.topic,
    scope: input.scope,
    limit: input.limit ?? Math.min(10, call.memory.settings.retrieval.default_limit),
    types: ["fact", "rule"],
    rank: "composite",
  });
}

const rankOf = (r: SearchResult) => ({ score: r.score, created_at: new Date(r.created_at), id: r.id });

function present(call: Call, found: Retrieved, rank: "relevance" | "composite", explain: boolean) {
  const { candidate: c, relevance } = found;
  const recent = recency(c.last_referenced_at ?? c.created_at, call.now);
  const composite = compositeScore(
    {
      relevance,
      importance: c.importance,
      recency: recent,
      confidence: found.effectiveConfidence,
      ...(c.maturity === null ? {} : { maturity: c.maturity }),
    },
    call.memory.settings.retrieval.score_weights,
  );
  return {
    type: c.type,
    id: c.id,
    content: c.content,
    score: rank === "composite" ? composite : relevance,
    relevance,
    importance: c.importance,
    recency: recent,
    effective_confidence: found.effectiveConfidence,
    scope: c.scope,
    state: c.state,
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
    ...(explain
      ? {
          explain: {
            keyword_rank: found.keywordRank ?? null,
            keyword_score: c.keyword === null ? null : c.keyword / 1e6,
            semantic_rank: found.semanticRank ?? null,
            cosine: c.distance === null ? null : 1 - c.distance,
            composite,
            confidence: c.confidence,
            decay_per_day: c.decay_rate,
            last_confirmed_at: c.last_confirmed_at.toISOString(),
            reference_count: c.reference_count,
          },
        }
      : {}),
  };
}
