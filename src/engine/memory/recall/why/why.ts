/**
 * Why a memory was recalled for a question, or what kept it out: the search itself is run, and each step is explained for one
 * memory. Nothing is written, and no reference is counted: asking why is no reason to keep a memory.
 */
import { invalid } from "../../../domain/errors.ts";
import { learnedWords } from "../../../domain/learning/sureness.ts";
import type { MemoryType } from "../../../domain/memory-types.ts";
import { type Floor, isAbove } from "../../../domain/ranking/fit.ts";
import type { IntentReading } from "../../../domain/ranking/intent.ts";
import type { Found } from "../../find.ts";
import type { Call } from "../../memory.ts";
import { profileLines } from "../block.ts";
import { arrange, contextQuery, isBeside, originsIn, rankForContext, readLasting } from "../context.ts";
import { intentOf, type RankedResult } from "../rank-results.ts";
import { type Retrieval, type Retrieved, retrieveTraced, type Trace } from "../retrieve.ts";
import { type Explanation, explain, floorOf, rankForSearch, type SearchInput, searchQuery } from "../search.ts";
import { inBlock, titleOf } from "./context.ts";
import { foundStep } from "./found.ts";
import { a, gates, WHOSE } from "./gates.ts";
import { carriedBy, placeSteps, type WhyRanking } from "./ranking.ts";
import { at, round, type Step, step } from "./step.ts";
import { findAnyState, rivalsFor, successorOf } from "./subject.ts";

export interface WhyInput extends Omit<SearchInput, "explain" | "as_of"> {
  readonly id: string;
  readonly for?: "search" | "context" | undefined;
  readonly token_budget?: number | undefined;
}

export interface WhyAnswer {
  readonly id: string;
  readonly type: MemoryType;
  readonly for: "search" | "context";
  readonly shown: boolean;
  /** In the whole ranking, also beyond the limit; null when it was not ranked. */
  readonly place: number | null;
  readonly of: number;
  /** Null for a context: its tokens are what is limited. */
  readonly limit: number | null;
  readonly verdict: string;
  readonly steps: readonly Step[];
  readonly explain?: Explanation;
  readonly degraded?: string;
}

/** The metadata of what an agent stored may claim anything: only that of consolidation is told. */
const foundWords = ({ row }: Found): string => {
  const words = row.source.startsWith("consolidation:") ? learnedWords(row.metadata) : undefined;
  return words === undefined ? "" : `, ${words}`;
};

export async function why(call: Call, input: WhyInput): Promise<WhyAnswer> {
  const kind = input.for ?? "search";
  refuseMisplaced(kind, input);
  const query = kind === "context" ? contextQuery(call, input.query) : searchQuery(call, input);
  const found = await findAnyState(call, input.id);
  const others = { successor: await successorOf(call, found), rivals: await rivalsFor(call, found, query) };
  const exists = step(
    "exists",
    true,
    `It is ${a(found.type)}, remembered since ${at(found.row.created_at)} as the word of ${WHOSE[found.row.trust]}${foundWords(found)}.`,
  );
  const before = [exists, ...gates(call, found, query, others)];
  const open = before.every(({ ok }) => ok);
  const retrieval = await retrieveTraced(call, query);
  const intent = intentOf(call, input.query);
  const met = (placed: readonly RankedResult[]) =>
    foundStep(
      call,
      found.row.id,
      query,
      retrieval.trace,
      placed.find(({ id }) => id === found.row.id),
    );
  const asked = { call, input, found, retrieval, intent, before, open, met };
  return kind === "context" ? whyContext(asked) : whySearch(asked, query.wanted);
}

interface WhyCase {
  readonly call: Call;
  readonly input: WhyInput;
  readonly found: Found;
  readonly retrieval: Retrieval & { readonly trace: Trace };
  readonly intent: IntentReading;
  readonly before: readonly Step[];
  /** It passed every gate, so it could be ranked. */
  readonly open: boolean;
  readonly met: (placed: readonly RankedResult[]) => ReturnType<typeof foundStep>;
}

async function whySearch(asked: WhyCase, limit: number): Promise<WhyAnswer> {
  const { call, input, found, retrieval, intent, before, open } = asked;
  const floor = floorOf(call, input);
  const own = retrieval.results.find(({ candidate }) => candidate.id === found.row.id);
  const above = own === undefined || isAbove(floor, own);
  // A memory below the floor is ranked among all that was found, to show how far away it was.
  const results = above ? retrieval.results.filter((result) => isAbove(floor, result)) : retrieval.results;
  const placed = rankForSearch(call, input.rank, results, intent);
  const ranked: WhyRanking = {
    results: placed,
    index: placed.findIndex(({ id }) => id === found.row.id),
    rank: input.rank ?? "relevance",
    intent: intent.intent,
    reranked: retrieval.reranked,
  };
  if (!open) return answer(asked, ranked, limit, before, "");
  const met = await asked.met(placed);
  const steps = [
    ...before,
    bare(met),
    ...(own === undefined || (above && !floor.asked) ? [] : [floorStep(floor, own)]),
    ...(met.ok && above ? placeSteps(call, ranked, limit) : []),
  ];
  const place = `It is shown at place ${ranked.index + 1} of ${placed.length}: found ${met.by}`;
  return answer(asked, ranked, limit, steps, `${place}${carried(call, ranked)}.`);
}

async function whyContext(asked: WhyCase): Promise<WhyAnswer> {
  const { call, input, found, retrieval, intent, before, open } = asked;
  const { type, row } = found;
  const beside = retrieval.results.find(({ candidate }) => candidate.id === row.id && isBeside({ candidate, fit: 0 }));
  const ranked = rankForContext(
    call,
    retrieval.results.filter((one) => one === beside || !isBeside(one)),
    intent.intent,
  );
  const index = ranked.findIndex(({ id }) => id === row.id);
  const ranking: WhyRanking = {
    results: ranked,
    index,
    rank: "composite",
    intent: intent.intent,
    reranked: retrieval.reranked,
  };
  if (!open) return answer(asked, ranking, null, before, "");
  const lasting = await readLasting(call, contextQuery(call, input.query));
  const profile = profileLines(call, lasting);
  const origins = await originsIn(call, [...lasting, ...ranked.map(({ candidate }) => candidate)]);
  const sections = arrange(call, profile, ranked, intent.intent, origins);
  const budget = input.token_budget ?? call.memory.settings.retrieval.context_token_budget;
  const block = inBlock(call, { id: row.id, type, budget, profile, ranked, sections });
  if (block.shown?.section === "profile") {
    const words = `It is shown in ${titleOf("profile")} at place ${block.shown.place}: it is lasting and important, whatever is asked.`;
    return answer(asked, ranking, null, [...before, ...block.profile], words);
  }
  const met = await asked.met(ranked);
  const idle = beside !== undefined && isBeside(beside) ? [IDLE] : [];
  const steps = [...before, ...block.profile, bare(met), ...idle, ...(met.ok ? block.section : [])];
  const place = block.shown && `in ${titleOf(block.shown.section)} at place ${block.shown.place} of ${block.shown.of}`;
  return answer(asked, ranking, null, steps, `It is shown ${place}: found ${met.by}${carried(call, ranking)}.`);
}

const IDLE = step(
  "relevance",
  false,
  "It teaches nothing (a greeting, thanks, an order for the moment), so it is shown only to a prompt that it fits very well.",
);

function floorStep(floor: Floor, own: Retrieved): Step {
  const { least, asked } = floor;
  const how = `It fits the question ${round(own.fit)}, with a relevance of ${round(own.relevance)} among what was found`;
  const bar = `min_relevance is ${round(least)}${asked ? "" : " (as configured)"}`;
  if (isAbove(floor, own)) return step("relevance", true, `${how}; ${bar}.`);
  return step("relevance", false, `${how}, and what is below the floor is not returned: ${bar}.`);
}

const bare = ({ check, ok, words }: Step): Step => ({ check, ok, words });

function carried(call: Call, ranked: WhyRanking): string {
  const by = carriedBy(call, ranked);
  return by === undefined ? "" : `, carried most by ${by}`;
}

function answer(
  asked: WhyCase,
  ranked: WhyRanking,
  limit: number | null,
  steps: readonly Step[],
  shown: string,
): WhyAnswer {
  const { input, found, retrieval, intent } = asked;
  const own = ranked.results[ranked.index];
  const out = steps.find(({ ok }) => !ok);
  return {
    id: found.row.id,
    type: found.type,
    for: input.for ?? "search",
    shown: out === undefined,
    place: own === undefined ? null : ranked.index + 1,
    of: ranked.results.length,
    limit,
    verdict: out?.words ?? shown,
    steps,
    ...(own === undefined ? {} : { explain: explain(own, retrieval, intent) }),
    ...(retrieval.degraded === undefined ? {} : { degraded: retrieval.degraded }),
  };
}

const SEARCH_ONLY = [
  "types",
  "scope",
  "mode",
  "limit",
  "min_confidence",
  "min_relevance",
  "tier",
  "tags",
  "rank",
] as const;
const SEARCH_CHARS = 4000;

function refuseMisplaced(kind: "search" | "context", input: WhyInput): void {
  if (kind === "search") {
    if (input.token_budget !== undefined)
      throw invalid("token_budget", "token_budget is for a context; say for: context, or leave it out.");
    if (input.query.length > SEARCH_CHARS)
      throw invalid(
        "query",
        `query: is longer than the ${SEARCH_CHARS.toLocaleString("en")} characters a search takes.`,
      );
    return;
  }
  const misplaced = SEARCH_ONLY.find((name) => input[name] !== undefined);
  if (misplaced !== undefined) throw invalid(misplaced, `${misplaced} is for a search; a context does not know it.`);
}
