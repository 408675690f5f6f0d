/** The second stage of a search: candidates of both arms are reranked, as `[modules.memory.retrieval] rerank` says. */
import { messageOf } from "../../domain/errors.ts";
import { type MemoryEvidence, type Question, read } from "../../domain/ranking/late-interaction.ts";
import type { QueryToken } from "../../domain/ranking/max-sim.ts";
import type { Reading } from "../../domain/ranking/reading.ts";
import { RERANK_AROUND, reach } from "../../domain/ranking/recipe.ts";
import type { Statistics } from "../../domain/ranking/words/bm25.ts";
import { idf } from "../../domain/ranking/words/bm25.ts";
import { h40 } from "../../domain/ranking/words/postings.ts";
import { lexemes } from "../../domain/text/lexemes.ts";
import { firstName } from "../../domain/text/names.ts";
import type { Surroundings } from "../../store/index/evidence.ts";
import type { Candidate } from "../../store/index/search.ts";
import type { Embedded } from "../embed.ts";
import type { Call, Memory } from "../memory.ts";
import type { Asked } from "./question.ts";

export type Reranking = "late-interaction" | "cross-encoder" | "none";

/** What is fetched around each candidate. A context block has no room for neighbouring turns; a list of results has. */
export function surroundings(call: Call, names: readonly string[], forBlock: boolean): Surroundings {
  const around = { ...RERANK_AROUND, ...(forBlock ? { best: 0 } : {}) };
  return { tenant: call.caller.tenant, names, ...reach(call.memory.recipe), ...around };
}

/** One reading for each candidate, in their order. */
export function rerankByTokens(
  memory: Memory,
  text: string,
  asked: Asked,
  candidates: readonly Candidate[],
  evidence: ReadonlyMap<string, MemoryEvidence>,
): (Reading | undefined)[] {
  const { statistics, embedded, names } = asked;
  const question: Question = {
    text,
    terms: statistics?.terms ?? [],
    avgdl: statistics?.avgdl ?? 1,
    tokens: embedded === undefined ? [] : queryTokens(embedded, statistics),
    hasVector: embedded !== undefined,
    names,
  };
  return read(
    question,
    candidates.map(({ id, content, occurred_at }) => ({ id, text: content, at: occurred_at })),
    withSubjectsAsSpeakers(candidates, [...evidence.values()], names),
    memory.recipe,
  );
}

/** A fact counts as said by its subject: else a question about Ada would rank everything Ada said above the facts about her. */
function withSubjectsAsSpeakers(
  candidates: readonly Candidate[],
  evidence: readonly MemoryEvidence[],
  names: readonly string[],
): readonly MemoryEvidence[] {
  if (names.length === 0) return evidence;
  const subjects = new Map<string, string>();
  for (const { id, subject } of candidates) {
    const name = subject === null ? undefined : firstName(subject);
    if (name !== undefined) subjects.set(id, name);
  }
  if (subjects.size === 0) return evidence;
  return evidence.map((item) => {
    const name = subjects.get(item.id);
    return name === undefined ? item : { ...item, name, withNamed: names.includes(name) };
  });
}

/** Of a long prompt only the tokens of the highest weight are compared: each costs a comparison with every token of every candidate. */
const MOST_TOKENS = 32;

/**
 * A piece of a word weighs what its word weighs in BM25, and a little for being rare in the model's vocabulary, which is
 * sorted by frequency. Counting pieces in the store itself gained half a point more and a counter for every write.
 */
function queryTokens({ tokens }: Embedded, statistics: Statistics | undefined): QueryToken[] {
  const frequency = new Map(statistics?.terms.map(({ hash, df }) => [hash, df]));
  const n = statistics?.n ?? 0;
  const size = tokens.words.length === 0 ? 0 : tokens.bits.length / tokens.words.length;
  const all = tokens.words.map((word, index): QueryToken => {
    const known = lexemes(word).map((lexeme) => frequency.get(h40(lexeme)) ?? 0);
    const rank = Math.max(1, (tokens.ranks[index] ?? 0) - FIRST_WORD);
    return {
      bits: tokens.bits.subarray(index * size, (index + 1) * size),
      weight: idf(n, Math.max(0, ...known)) + 1.5 * Math.log(1 + rank / 100),
    };
  });
  return all.length <= MOST_TOKENS ? all : all.toSorted((a, b) => b.weight - a.weight).slice(0, MOST_TOKENS);
}

/** The first entries of the vocabulary are marks, single characters and unused ones. */
const FIRST_WORD = 1995;

/** As many as a cross-encoder scores without a noticeable wait. */
const CROSS_DEPTH = 30;

export interface CrossEncoded {
  readonly relevance: ReadonlyMap<string, number>;
  readonly degraded: string | undefined;
}

/**
 * A cross-encoder scores the candidates of the highest relevance so far. The others keep their order below those: their relevance
 * is multiplied by the lowest score.
 */
export async function rerankByCrossEncoder(
  memory: Memory,
  query: string,
  ranked: readonly { readonly id: string; readonly content: string; readonly relevance: number }[],
): Promise<CrossEncoded> {
  const { reranker } = memory;
  const first = ranked.slice(0, CROSS_DEPTH);
  const before = new Map(ranked.map(({ id, relevance }) => [id, relevance]));
  if (first.length === 0) return { relevance: before, degraded: undefined };
  if (reranker === undefined) return { relevance: before, degraded: NO_RERANKER };
  try {
    const scores = await reranker.score(
      query,
      first.map(({ content }) => content),
    );
    const least = Math.min(...scores);
    const relevance = new Map(ranked.slice(CROSS_DEPTH).map((r) => [r.id, r.relevance * least]));
    first.forEach(({ id }, index) => {
      relevance.set(id, scores[index] as number);
    });
    return { relevance, degraded: undefined };
  } catch (error) {
    memory.log.warn({ err: error }, "the cross-encoder failed; going on with late interaction");
    const why = messageOf(error);
    return { relevance: before, degraded: `ranked without the cross-encoder: ${why}` };
  }
}

const NO_RERANKER = "ranked without a cross-encoder: none was opened.";
