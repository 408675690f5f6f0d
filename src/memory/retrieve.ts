/**
 * Candidates from both arms, gated and with their four signals: what search, recall and context share.
 * Trip one brings the postings while the query is embedded; trip two brings vectors and bodies.
 */
import { type Hit, type Postings, type Ranking, rank as rankPostings } from "../domain/bm25.ts";
import { effectiveConfidence } from "../domain/decay.ts";
import { fuse } from "../domain/fuse.ts";
import { lexemes } from "../domain/lexemes.ts";
import type { MemoryType } from "../domain/memory-types.ts";
import type { Tier } from "../domain/tiers.ts";
import { fetchPostings } from "../store/lexical.ts";
import { type Candidate, gatherCandidates, type VectorArm } from "../store/search.ts";
import { type Embedded, queryVector } from "./filing.ts";
import type { Call } from "./memory.ts";

export type Mode = "hybrid" | "semantic" | "keyword";

export interface RetrieveQuery {
  readonly text: string;
  readonly mode: Mode;
  readonly types: readonly MemoryType[];
  /** Undefined: every scope of the tenant. */
  readonly scopes: readonly string[] | undefined;
  readonly minConfidence: number;
  readonly tags?: readonly string[] | undefined;
  readonly tier?: Tier | undefined;
  /** How many good candidates are wanted; per type when `perType` is set. */
  readonly wanted: number;
  readonly perType?: boolean;
}

export interface Retrieved {
  readonly candidate: Candidate;
  readonly relevance: number;
  readonly effectiveConfidence: number;
  readonly keywordRank: number | undefined;
  readonly semanticRank: number | undefined;
}

export interface Retrieval {
  readonly results: readonly Retrieved[];
  readonly mode: Mode;
  /** Why the answer is less than it could be. */
  readonly degraded: string | undefined;
  readonly embedMs: number;
}

/** 100 an arm is enough: 500 raised candidate recall from 90 to 98 % but the result by half a point. */
export const ARM = 100;
/** Under this many memories on the shelves all vectors are compared: about 2 ms embedded, no more than an index takes. */
const EXACT_BELOW = 1000;

export async function retrieve(call: Call, query: RetrieveQuery): Promise<Retrieval> {
  const { version, ...found } = await retrieveOnce(call, query);
  if (version === undefined || (await call.memory.versions.stillServes(version))) return found;
  // Rebuilt embeddings took over in the middle of this search; the ones that replace them are complete.
  const { version: _, ...again } = await retrieveOnce(call, query);
  return again;
}

async function retrieveOnce(call: Call, query: RetrieveQuery): Promise<Retrieval & { version: number | undefined }> {
  const { memory, caller } = call;
  const shelves = (await memory.shelves.of(caller.tenant, query.scopes)).filter((s) => query.types.includes(s.type));
  const sks = shelves.map((shelf) => shelf.sk);
  const groups = query.perType
    ? query.types.map((type) => shelves.filter((s) => s.type === type).map((s) => s.sk)).filter((g) => g.length > 0)
    : [sks];
  const keywords = () => fetchPostings(memory.db, wordsOf(query.text), sks).then((found) => rankGroups(found, groups));
  const started = performance.now();
  let embedMs = 0;
  const [asked, made] = await Promise.all([
    query.mode === "semantic" ? undefined : keywords(),
    query.mode === "keyword"
      ? undefined
      : queryVector(memory, query.text).finally(() => {
          embedMs = performance.now() - started;
        }),
  ]);
  const degraded =
    query.mode === "keyword" ? undefined : (memory.versions.degraded ?? (made === undefined ? NO_VECTOR : undefined));
  const rankings = asked ?? (degraded === undefined ? undefined : await keywords());

  const depth = query.perType ? query.wanted : Math.max(ARM, query.wanted);
  const arm = made === undefined ? undefined : vectorArm(call, query, made, groups, depth, rankings);
  const candidates: Candidate[] = [];
  for (let page = 0; page < MAX_PAGES; page++) {
    // The first page nearly always suffices; filters that discard much make the later ones worth their trip.
    const hits = pageOf(rankings ?? [], depth, page);
    if (page > 0 && (hits.length === 0 || candidates.filter((c) => isGood(call, query, c)).length >= query.wanted))
      break;
    candidates.push(...(await gatherCandidates(memory.db, hits, page === 0 ? arm : undefined, filters(call, query))));
  }
  const good = mergeArms(candidates).filter((c) => isGood(call, query, c));
  const results = score(call, good, made !== undefined, rankings !== undefined);
  return { results, mode: query.mode, degraded, embedMs, version: made?.version };
}

/** A whole prompt may be the query; its first words say what it is about, and each word costs a look into every shelf. */
const MAX_WORDS = 64;
const QUERY_CHARS = 4000;

export function wordsOf(text: string): string[] {
  const words = lexemes(text.slice(0, QUERY_CHARS));
  const kept = new Set([...new Set(words)].slice(0, MAX_WORDS));
  return words.filter((word) => kept.has(word));
}

export const NO_VECTOR = "no embedding model: results are by keyword only. Run `butler model pull`.";

const filters = (call: Call, query: RetrieveQuery) => ({ now: call.now, tags: query.tags, tier: query.tier });

function vectorArm(
  call: Call,
  query: RetrieveQuery,
  { version, vector }: Embedded,
  groups: readonly (readonly number[])[],
  limit: number,
  rankings: readonly Ranking[] | undefined,
): VectorArm {
  const shelves = groups.map((sks, index) => ({ sks, exact: (rankings?.[index]?.n ?? Infinity) <= EXACT_BELOW }));
  const faded = query.minConfidence < call.memory.settings.facts.retrieval_confidence_threshold;
  return { version, dimensions: vector.length, query: vector, groups: shelves, limit, faded };
}

const MAX_PAGES = 8;

function rankGroups(postings: Postings, groups: readonly (readonly number[])[]): Ranking[] {
  if (groups.length === 1) return [rankPostings(postings)];
  return groups.map((sks) => {
    const mine = <T extends { readonly sk: number }>(rows: readonly T[]) => rows.filter((row) => sks.includes(row.sk));
    const { terms, shelves, blocks, fresh, gone } = postings;
    return rankPostings({ terms, shelves: mine(shelves), blocks: mine(blocks), fresh: mine(fresh), gone: mine(gone) });
  });
}

/** Page 0 is as deep as an arm; each later page is four times as deep as the one before. */
function pageOf(rankings: readonly Ranking[], depth: number, page: number): readonly Hit[] {
  const from = (depth * (4 ** page - 1)) / 3;
  return rankings.flatMap((ranking) => (from >= ranking.total ? [] : ranking.top(depth * 4 ** page, from)));
}

/** A memory may come from a later keyword page and from the vector arm: one row, both signals. */
function mergeArms(candidates: readonly Candidate[]): Candidate[] {
  const byId = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const seen = byId.get(candidate.id);
    byId.set(
      candidate.id,
      seen
        ? { ...seen, keyword: seen.keyword ?? candidate.keyword, distance: seen.distance ?? candidate.distance }
        : candidate,
    );
  }
  return [...byId.values()];
}

function isGood(call: Call, query: RetrieveQuery, candidate: Candidate): boolean {
  return effectiveConfidence(candidate, call.now) >= query.minConfidence;
}

export function score(call: Call, good: readonly Candidate[], hasVectors: boolean, hasWords: boolean): Retrieved[] {
  const byKeyword = good
    .filter((c) => c.keyword !== null)
    .toSorted((a, b) => (b.keyword ?? 0) - (a.keyword ?? 0) || order(a, b));
  const byMeaning = good
    .filter((c) => c.distance !== null)
    .toSorted((a, b) => (a.distance ?? 0) - (b.distance ?? 0) || order(a, b));
  const keywordRank = ranks(byKeyword);
  const semanticRank = ranks(byMeaning);
  const fused = hasVectors && hasWords ? fuse([byKeyword.map((c) => c.id), byMeaning.map((c) => c.id)]) : undefined;
  const best = byKeyword[0]?.keyword ?? 1;
  return good.map((candidate) => ({
    candidate,
    relevance:
      fused?.get(candidate.id) ??
      (candidate.distance !== null ? clamp(1 - candidate.distance) : (candidate.keyword ?? 0) / best),
    effectiveConfidence: effectiveConfidence(candidate, call.now),
    keywordRank: keywordRank.get(candidate.id),
    semanticRank: semanticRank.get(candidate.id),
  }));
}

const clamp = (x: number): number => Math.min(1, Math.max(0, x));
const order = (a: Candidate, b: Candidate) => b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? -1 : 1);
const ranks = (list: readonly Candidate[]) => new Map(list.map((c, index) => [c.id, index + 1]));
