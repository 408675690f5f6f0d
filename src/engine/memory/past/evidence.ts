/**
 * Candidates of a search in the past: what engine/store/index/search.ts and engine/store/index/evidence.ts do in SQL, over memories
 * folded from the stream. A memory that an arm found brings the turns around it; the reranker reads all of them.
 */
import type { Said } from "../../domain/past/timeline.ts";
import type { MemoryEvidence } from "../../domain/ranking/late-interaction.ts";
import type { Hit } from "../../domain/ranking/words/bm25.ts";
import { firstName } from "../../domain/text/names.ts";
import type { Surroundings } from "../../store/index/evidence.ts";
import type { Filters, Gathered, VectorArm } from "../../store/index/search.ts";
import type { Call } from "../memory.ts";
import type { CandidateSource } from "../recall/retrieve.ts";
import { candidateThen } from "./candidate.ts";
import { type PastMemory, type PastView, sessionKey } from "./past.ts";
import { type AskedThen, namedSessions } from "./question.ts";
import { rowsThen } from "./rows.ts";
import type { Followed } from "./timelines.ts";
import { type Near, nearestFirst, openVectorsThen, type Vectored, type VectorsThen } from "./vectors.ts";

export interface PastSource extends CandidateSource {
  /** How many memories had no vector and could be found by their words only. */
  missing(): number;
}

export function pastSource(call: Call, followed: Followed, view: PastView, question: AskedThen): PastSource {
  const vectors = openVectorsThen(call, followed, view);
  const shown = (memory: PastMemory, filters: Filters) =>
    view.isShown(memory, ANY_CONFIDENCE) && matches(filters, memory);

  async function fetchCandidates(
    hits: readonly Hit[],
    arm: VectorArm | undefined,
    filters: Filters,
    around: Surroundings | undefined,
  ): Promise<Gathered> {
    const byWords = hits.flatMap((hit): Scored[] => ("memoryId" in hit ? [[hit.memoryId, hit.score]] : []));
    const near = arm === undefined ? [] : await nearestOf(call, question, view, arm, filters, byWords, vectors);
    const met = mergeArms(byWords, near, view);
    const turns = around === undefined ? [] : turnsAround(met, around, view);
    const neighbours = turns.filter(({ memory, candidate }) => candidate && !met.has(memory.id));
    const found = [...[...met.values()].map(({ memory }) => memory), ...neighbours.map(({ memory }) => memory)];
    const rows = await rowsThen(
      call,
      found.filter((memory) => shown(memory, filters)).map(({ id }) => id),
    );
    const candidates = [...rows].map(([id, row]) =>
      candidateThen(row, met.get(id)?.keyword ?? null, met.get(id)?.distance ?? null),
    );
    if (around === undefined) return { candidates, evidence: new Map() };
    const beside = [...new Set([...found, ...turns.map(({ memory }) => memory)])];
    const vectored = arm === undefined ? new Map<string, Vectored>() : await vectors.evidence(arm, beside);
    const inSession = new Set(turns.map(({ memory }) => memory));
    const named = namedSessions(question.spoken, around.names);
    const about = (memory: PastMemory): MemoryEvidence =>
      evidenceOf(memory, view.wordsOf(memory, question.words), vectored.get(memory.id), inSession.has(memory), named);
    return { candidates, evidence: new Map(beside.map((memory) => [memory.id, about(memory)])) };
  }

  return { asked: question.asked, groups: question.groups, fetchCandidates, missing: vectors.missing };
}

type Scored = readonly [id: string, score: number];

/** Confidence is checked later, when the row is known. */
const ANY_CONFIDENCE = 0;

function matches({ tags, tier }: Filters, memory: PastMemory): boolean {
  return (tier === undefined || memory.tier === tier) && (tags ?? []).every((tag) => memory.tags.includes(tag));
}

async function nearestOf(
  call: Call,
  { typeOf, asked }: AskedThen,
  view: PastView,
  arm: VectorArm,
  filters: Filters,
  byWords: readonly Scored[],
  vectors: VectorsThen,
): Promise<Near[]> {
  const usual = call.memory.settings.facts.retrieval_confidence_threshold;
  const keyword = new Map(byWords);
  const preferred = (a: PastMemory, b: PastMemory) =>
    (keyword.get(b.id) ?? 0) - (keyword.get(a.id) ?? 0) || byAge(a, b);
  const near: Near[] = [];
  const isWanted = (memory: PastMemory) =>
    matches(filters, memory) && view.isShown(memory, arm.faded ? ANY_CONFIDENCE : usual);
  const also = arm.theirs && asked.said && { ids: asked.said.ids, limit: arm.theirs.limit };
  for (const { sks, limit } of arm.groups) {
    const lines = view.linesOf(sks.flatMap((sk) => typeOf(sk) ?? []));
    near.push(...(await vectors.nearest(arm, { lines, isWanted, preferred, limit, also })));
  }
  return near.toSorted(nearestFirst);
}

const byAge = (a: PastMemory, b: PastMemory): number =>
  b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? -1 : 1);

interface FoundByArm {
  readonly memory: PastMemory;
  readonly keyword: number | null;
  readonly distance: number | null;
  /** The better of its ranks in the arms. */
  readonly place: number;
}

function mergeArms(byWords: readonly Scored[], near: readonly Near[], view: PastView): Map<string, FoundByArm> {
  const met = new Map<string, FoundByArm>();
  const bestFirst = byWords.toSorted(([a, low], [b, high]) => high - low || (a < b ? -1 : 1));
  for (const [index, [id, keyword]] of bestFirst.entries()) {
    const memory = view.find(id);
    if (memory !== undefined) met.set(id, { memory, keyword, distance: null, place: index + 1 });
  }
  for (const [index, [id, distance]] of near.entries()) {
    const memory = view.find(id);
    const before = met.get(id);
    const place = Math.min(before?.place ?? Infinity, index + 1);
    if (memory !== undefined) met.set(id, { memory, keyword: before?.keyword ?? null, distance, place });
  }
  return met;
}

interface Turn {
  readonly memory: PastMemory;
  /** A neighbour of one of the best, and so a candidate of its own. */
  readonly candidate: boolean;
}

/** The visible turns around each memory that was found, itself among them; as far as `aroundSql` reaches. */
function turnsAround(met: ReadonlyMap<string, FoundByArm>, s: Surroundings, view: PastView): Turn[] {
  const furthest = { before: -Math.min(0, ...s.offsets) + s.before, after: Math.max(0, ...s.offsets) + s.after };
  const turns = new Map<string, Turn>();
  for (const { memory: spot, place } of met.values()) {
    if (spot.session === undefined || spot.ordinal === undefined) continue;
    const best = place <= s.best;
    const { before, after } = best ? furthest : s.others;
    for (const memory of view.turnsWith(spot)) {
      const offset = (memory.ordinal ?? 0) - spot.ordinal;
      if (offset < -before || offset > after || !view.isShown(memory, ANY_CONFIDENCE)) continue;
      const candidate = (best && s.offsets.includes(offset)) || (turns.get(memory.id)?.candidate ?? false);
      turns.set(memory.id, { memory, candidate });
    }
  }
  return [...turns.values()];
}

function evidenceOf(
  memory: PastMemory,
  said: Said,
  vector: Vectored | undefined,
  inSession: boolean,
  named: ReadonlySet<string>,
): MemoryEvidence {
  const speaker = inSession ? memory.speaker : undefined;
  return {
    id: memory.id,
    session: inSession ? sessionKey(memory) : undefined,
    ordinal: inSession ? (memory.ordinal ?? 0) : 0,
    speaker,
    name: firstName(speaker),
    asks: inSession && memory.asks,
    withNamed: inSession && named.has(sessionKey(memory)),
    len: said.len,
    words: said.x,
    cosine: vector?.cosine,
    pieces: vector?.pieces ?? 0,
    tokens: vector?.tokens,
  };
}
