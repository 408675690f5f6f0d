/**
 * Candidates from both arms (words and vectors), filtered and scored: what search, recall and context share. A first statement
 * fetches the postings while the query is embedded; a second one the nearest vectors, the rows, and what the reranker reads. A server
 * is asked for the nearest vectors beside the postings (vector-arm.ts).
 */

import { span } from "../../adapters/trace.ts";
import { effectiveConfidence } from "../../domain/lifecycle/decay.ts";
import { isKeptOut } from "../../domain/lifecycle/quarantine.ts";
import type { Tier } from "../../domain/lifecycle/tiers.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import type { Look } from "../../domain/present.ts";
import { fitOf } from "../../domain/ranking/fit.ts";
import { fuse } from "../../domain/ranking/fuse.ts";
import type { MemoryEvidence } from "../../domain/ranking/late-interaction.ts";
import type { Reading } from "../../domain/ranking/reading.ts";
import { byRank } from "../../domain/ranking/scoring.ts";
import type { BestFirst } from "../../domain/ranking/words/best-first.ts";
import { type Hit, UNIT } from "../../domain/ranking/words/bm25.ts";
import type { Surroundings } from "../../store/index/evidence.ts";
import type { Candidate, Filters, Gathered, VectorArm } from "../../store/index/search.ts";
import { stopIfCancelled } from "../following.ts";
import type { Call } from "../memory.ts";
import { indexFor } from "../read-model/index-for.ts";
import { type Arms, armsOf } from "./arms.ts";
import { type Asked, ask, type Mode, type Worded } from "./question.ts";
import { type Reranking, rerankByCrossEncoder, rerankByTokens, surroundings } from "./rerank.ts";
import type { SearchIndex } from "./search-index.ts";
import { askEarly, depthOf, depthsOf, noteSizes, type Searching, sizesOf, vectorArm } from "./vector-arm.ts";

export type { Mode };

export interface RetrieveQuery {
  readonly text: string;
  readonly mode: Mode;
  readonly types: readonly MemoryType[];
  /** Undefined: every scope of the tenant. */
  readonly scopes: readonly string[] | undefined;
  /** Of several facts under one key on these steps only the value is returned; undefined: the fact of each scope. */
  readonly ladder?: readonly string[] | undefined;
  readonly minConfidence: number;
  readonly tags?: readonly string[] | undefined;
  readonly tier?: Tier | undefined;
  /** Episodes of this session are left out, and before candidates are cut off: those of a long session would take all places. */
  readonly exceptSession?: string | undefined;
  /** What comes from an untrusted source and was not corroborated is left out. */
  readonly trustedOnly?: boolean;
  /** How many good candidates are wanted; per type when `perType` is set. */
  readonly wanted: number;
  readonly perType?: boolean;
  /** Called with what the words found, if there is time before the model has answered. */
  readonly ahead?: ((candidates: readonly Candidate[]) => void) | undefined;
}

export interface Retrieved {
  readonly candidate: Candidate;
  readonly relevance: number;
  /** How well it fits by itself: engine/domain/ranking/fit.ts. */
  readonly fit: number;
  readonly effectiveConfidence: number;
  /** The same for all that were found together. */
  readonly arms: Arms;
  /** The signals of the late-interaction reranker. */
  readonly reading: Reading | undefined;
}

export interface Retrieval {
  readonly results: readonly Retrieved[];
  readonly mode: Mode;
  readonly reranked: Reranking;
  /** Why the answer is less than it could be. */
  readonly degraded: string | undefined;
  readonly embedMs: number;
}

/** How far the arms looked, to explain why a memory was not among the results. */
export interface Trace {
  readonly asked: Asked;
  /** Shelves that were searched together, in the order of `asked.rankings`. */
  readonly groups: readonly (readonly number[])[];
  readonly arm: VectorArm | undefined;
  /** How many of each keyword ranking were read; those that tie with the last one were read too. */
  readonly keywordDepth: number;
}

export async function retrieve(call: Call, query: RetrieveQuery): Promise<Retrieval> {
  const { trace: _, ...found } = await retrieveTraced(call, query);
  return found;
}

export async function retrieveTraced(call: Call, query: RetrieveQuery): Promise<Retrieval & { readonly trace: Trace }> {
  const found = await retrieveOnce(call, query);
  // After the first answer, which it would hold up.
  void loadModel(call, query.text);
  const version = found.trace.asked.embedded?.version;
  if (version === undefined || (await call.memory.versions.stillServes(version))) return found;
  // Another version began to serve in the middle of this search, and it is complete.
  return retrieveOnce(call, query);
}

async function loadModel(call: Call, question: string): Promise<void> {
  const { memory, caller } = call;
  await memory.readModel.load(memory.versions.serving?.version, caller.tenant);
  memory.rehearsal.begin(call, question);
}

/** Only `hybrid` is reranked. */
export const rerankingOf = (call: Call, mode: Mode): Reranking =>
  mode === "hybrid" ? call.memory.settings.retrieval.rerank : "none";

/** Of a context block each type has a few places only, which the plain lists fill. */
export const takesTheirs = (reranking: Reranking, { perType }: RetrieveQuery): boolean =>
  reranking !== "none" && !perType;

async function retrieveOnce(call: Call, query: RetrieveQuery): Promise<Retrieval & { readonly trace: Trace }> {
  const reranking = rerankingOf(call, query.mode);
  const searching = { call, query, reranking };
  const depth = (memories: number) => depthOf(searching, memories);
  const index = await indexFor(call);
  // From memory the question is sent to the model first: a server may have to be asked for shelves.
  const finding = findGroups(call, query, index);
  // Whoever waits for it hears of a failure.
  finding.catch(() => undefined);
  const early = index.inMemory
    ? undefined
    : askEarly({ ...searching, groups: await finding }, index, filters(call, query));
  const onWords = async (found: Worded) => {
    const groups = await finding;
    const hits = () => firstHits({ ...searching, groups }, found);
    const around = surroundingsOf(call, query, found, reranking);
    const candidates = await index.lookAhead?.(hits, filters(call, query), around);
    query.ahead?.(candidates ?? []);
  };
  const asked = await span("search question", { mode: query.mode }, () =>
    ask(call, index, {
      ...{ text: query.text, mode: query.mode, scopes: query.scopes, groups: finding, depth },
      // While others wait for this thread, their answers come first.
      onWords: call.memory.traffic.underWay > 1 ? undefined : onWords,
      withTheirs: takesTheirs(reranking, query),
      onEmbedded: early?.begin,
      onNames: early?.noteNames,
    }),
  );
  const groups = await finding;
  noteSizes({ ...searching, groups }, asked);
  return retrieveFrom(call, query, {
    asked,
    groups,
    fetchCandidates: (hits, arm, ...wanted) =>
      span("search candidates", {}, () => index.candidates(hits, arm && { ...arm, ...early?.foundBy(arm) }, ...wanted)),
  });
}

async function findGroups({ memory, caller }: Call, query: RetrieveQuery, index: SearchIndex): Promise<number[][]> {
  const shelves = await memory.shelves.find(memory.db, caller.tenant, query.scopes, await index.revision?.());
  return groupsOf(
    query,
    shelves.filter(({ type }) => query.types.includes(type)),
  );
}

/** Shelves that are searched together. */
export function groupsOf(
  { perType, types }: RetrieveQuery,
  shelves: readonly { readonly type: MemoryType; readonly sk: number }[],
): number[][] {
  return perType
    ? types.map((type) => shelves.filter((s) => s.type === type).map((s) => s.sk))
    : [shelves.map((shelf) => shelf.sk)];
}

/** Where candidates come from: memories of now from the store, those of the past from the event stream (as-of.ts). */
export interface CandidateSource {
  readonly asked: Asked;
  readonly groups: readonly (readonly number[])[];
  /** The candidates for these hits and vectors, and the turns around them. */
  readonly fetchCandidates: (
    hits: readonly Hit[],
    arm: VectorArm | undefined,
    filters: Filters,
    around: Surroundings | undefined,
  ) => Promise<Gathered>;
}

export async function retrieveFrom(
  call: Call,
  query: RetrieveQuery,
  source: CandidateSource,
): Promise<Retrieval & { readonly trace: Trace }> {
  const { asked, groups } = source;
  stopIfCancelled(call);
  const reranking = rerankingOf(call, query.mode);
  const gathered = await gather(call, query, source, reranking);
  stopIfCancelled(call);
  const good = gathered.candidates.filter((c) => isGood(call, query, c));
  const { results, degraded } =
    reranking === "none"
      ? { results: score(call, good, asked), degraded: undefined }
      : await span("rerank", { reranking, candidates: good.length }, () =>
          rerank(call, query, asked, good, gathered.evidence, reranking),
        );
  return {
    results,
    mode: query.mode,
    reranked: reranking,
    degraded: asked.degraded ?? degraded,
    embedMs: asked.embedMs,
    trace: { asked, groups, arm: gathered.arm, keywordDepth: gathered.keywordDepth },
  };
}

const filters = (call: Call, query: RetrieveQuery): Filters => ({
  ...lookOf(call, query.ladder),
  tags: query.tags,
  tier: query.tier,
  exceptSession: query.exceptSession,
  forBlock: query.perType,
});

/** How a reader of these scopes sees keys that several facts hold. */
export const lookOf = ({ memory, now }: Call, ladder: readonly string[] | undefined): Look => ({
  ladder,
  now,
  threshold: memory.settings.facts.retrieval_confidence_threshold,
});

async function gather(
  call: Call,
  query: RetrieveQuery,
  { asked, groups, fetchCandidates }: CandidateSource,
  reranking: Reranking,
): Promise<Pick<Trace, "arm" | "keywordDepth"> & { candidates: Candidate[]; evidence: Map<string, MemoryEvidence> }> {
  const { embedded } = asked;
  const sizes = sizesOf(asked);
  const searching = { call, query, reranking, groups };
  const { all } = depthsOf(searching, asked, sizes);
  const arm = embedded && vectorArm(searching, { ...asked, embedded }, sizes);
  const around = surroundingsOf(call, query, asked, reranking);
  let candidates: Candidate[] = [];
  let evidence = new Map<string, MemoryEvidence>();
  let keywordDepth = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    // The first page nearly always suffices; later ones are read when filters discard much.
    if (page > 0 && candidates.filter((c) => isGood(call, query, c)).length >= query.wanted) break;
    const hits = page === 0 ? await firstHits(searching, asked) : await pageOf(asked.rankings ?? [], all, page);
    if (page > 0 && hits.length === 0) break;
    const searched = page === 0 || arm === undefined ? arm : { ...arm, groups: [], theirs: undefined };
    const found = await fetchCandidates(hits, searched, filters(call, query), around);
    candidates = page === 0 ? found.candidates : [...candidates, ...found.candidates];
    evidence = page === 0 ? found.evidence : new Map([...evidence, ...found.evidence]);
    keywordDepth = pageStart(all, page + 1);
  }
  // One page names each memory once, and nearly always it is the only one.
  const isOne = keywordDepth === pageStart(all, 1);
  return { candidates: isOne ? candidates : mergeArms(candidates), evidence, arm, keywordDepth };
}

const surroundingsOf = (call: Call, { perType }: RetrieveQuery, { names }: Worded, reranking: Reranking) =>
  reranking === "none" ? undefined : surroundings(call, names, perType ?? false);

async function firstHits(searching: Searching, found: Worded): Promise<readonly Hit[]> {
  const { all, theirs } = depthsOf(searching, found, sizesOf(found));
  return addTheirs(found, await pageOf(found.rankings ?? [], all, 0), theirs);
}

/** Among 12,000 memories, most of others, the plain lists miss much of what somebody said whom the question names. */
async function addTheirs({ rankings, said }: Worded, hits: readonly Hit[], limit: number): Promise<readonly Hit[]> {
  if (said === undefined) return hits;
  const key = (hit: Hit) => ("slot" in hit ? `${hit.sk} ${hit.slot}` : hit.memoryId);
  const met = new Set(hits.map(key));
  const more = await Promise.all((rankings ?? []).map((ranking) => ranking.topAmong(limit, said)));
  return [...hits, ...more.flat().filter((hit) => !met.has(key(hit)))];
}

const MAX_PAGES = 8;

/** Page 0 is as deep as an arm; each later page is four times as deep as the one before. */
const pageStart = (depth: number, page: number): number => (depth * (4 ** page - 1)) / 3;

async function pageOf(rankings: readonly BestFirst[], depth: number, page: number): Promise<readonly Hit[]> {
  const from = pageStart(depth, page);
  return (await Promise.all(rankings.map((ranking) => ranking.top(depth * 4 ** page, from)))).flat();
}

/** A memory may come from a later keyword page and from the vector arm: it becomes one candidate with both signals. */
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
  if (query.exceptSession !== undefined && candidate.session_id === query.exceptSession) return false;
  if (query.trustedOnly === true && isKeptOut(candidate)) return false;
  return effectiveConfidence(candidate, call.now) >= query.minConfidence;
}

/** Relevance without a reranker: fused ranks of both arms, or the score of the one that was used. */
function score(call: Call, good: readonly Candidate[], { embedded, rankings, statistics }: Asked): Retrieved[] {
  const arms = armsOf(good);
  const fuses = embedded !== undefined && rankings !== undefined;
  const fused = fuses ? fuse([arms.byKeyword().map((c) => c.id), arms.byMeaning().map((c) => c.id)]) : undefined;
  const best = arms.byKeyword()[0]?.keyword ?? 1;
  const all = weightOf(statistics);
  return good.map((candidate) => ({
    candidate,
    fit: plainFit(candidate, all),
    relevance:
      fused?.get(candidate.id) ??
      (candidate.distance !== null ? clamp(1 - candidate.distance) : (candidate.keyword ?? 0) / best),
    effectiveConfidence: effectiveConfidence(candidate, call.now),
    arms,
    reading: undefined,
  }));
}

/** How well it fits as far as its own arm tells. */
const plainFit = ({ distance, keyword }: Candidate, all: number): number =>
  fitOf({
    reading: undefined,
    cosine: distance === null ? undefined : 1 - distance,
    wordShare: (keyword ?? 0) / UNIT / all,
  });

/** The score of a memory of average length that has each word of the question once. */
const weightOf = (statistics: Asked["statistics"]): number =>
  statistics?.terms.reduce((sum, { count, idf }) => sum + count * idf, 0) || 1;

async function rerank(
  call: Call,
  query: RetrieveQuery,
  asked: Asked,
  good: readonly Candidate[],
  evidence: ReadonlyMap<string, MemoryEvidence>,
  reranking: Reranking,
): Promise<{ results: Retrieved[]; degraded: string | undefined }> {
  const { memory } = call;
  const arms = armsOf(good);
  const all = weightOf(asked.statistics);
  const readings = rerankByTokens(memory, query.text, asked, good, evidence);
  const read = good.map((candidate, at): Retrieved => {
    const reading = readings[at];
    return {
      candidate,
      fit:
        reading === undefined
          ? plainFit(candidate, all)
          : fitOf({ reading, cosine: undefined, wordShare: reading.keywords.raw / all }),
      relevance: reading?.relevance ?? 0,
      effectiveConfidence: effectiveConfidence(candidate, call.now),
      arms,
      reading,
    };
  });
  if (reranking !== "cross-encoder") return { results: read, degraded: undefined };
  const ranked = read
    .map(({ candidate: { id, content, created_at }, relevance }) => ({
      id,
      content,
      created_at,
      relevance,
      score: relevance,
    }))
    .toSorted(byRank);
  const crossed = await rerankByCrossEncoder(memory, query.text, ranked);
  const results = read.map((r) => ({ ...r, relevance: crossed.relevance.get(r.candidate.id) ?? 0 }));
  return { results, degraded: crossed.degraded };
}

const clamp = (x: number): number => Math.min(1, Math.max(0, x));
