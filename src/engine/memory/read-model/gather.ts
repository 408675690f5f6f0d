/** Candidates and what a reranker reads of them, from the read model: what engine/store/index/search.ts and evidence.ts say in SQL. */
import { isLive } from "../../domain/lifecycle/lifecycle.ts";
import { isValue } from "../../domain/present.ts";
import type { MemoryEvidence } from "../../domain/ranking/late-interaction.ts";
import type { Retelling } from "../../domain/ranking/retelling.ts";
import type { Hit } from "../../domain/ranking/words/bm25.ts";
import { dateOf, heldOf, type ReadModel } from "../../domain/read-model/model.ts";
import type { ReadRow } from "../../domain/read-model/rows.ts";
import type { Surroundings } from "../../store/index/evidence.ts";
import type { Candidate, Filters, Gathered, VectorArm } from "../../store/index/search.ts";
import { matches, nearest } from "./nearest.ts";

interface Met {
  keyword: number | null;
  distance: number | null;
  /** The better of its ranks in the arms. */
  rank: number;
}

/** Where a search looks: always the same for one of them. */
interface Look {
  readonly model: ReadModel;
  readonly tenant: string;
  readonly filters: Filters;
  readonly around: Surroundings | undefined;
}

/**
 * What a search has seen of the model while the embedder had its question, by slot: it is not looked at again as long as the model is of the same
 * revision. The objects are completed when it is known what is near.
 */
export interface Ahead {
  /** Each is handed out once. */
  readonly candidates: Map<number, Writable<Candidate>>;
  readonly turns: Map<number, Turns>;
  /** Of memories as turns of their session, and as what stands alone. */
  readonly evidence: Readonly<Record<"turn" | "alone", Map<number, Writable<MemoryEvidence>>>>;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const nothingAhead = (): Ahead => ({
  candidates: new Map(),
  turns: new Map(),
  evidence: { turn: new Map(), alone: new Map() },
});

/** Looks at what the words found, and at the turns around it, before it is known what is near. */
export function lookAhead(look: Look, hits: readonly Hit[]): Ahead {
  const { model, around } = look;
  const ahead = nothingAhead();
  const met = meet(model, hits, []);
  met.forEach((found, slot) => {
    const candidate = shownAt(look, slot, found);
    if (candidate !== undefined) ahead.candidates.set(slot, candidate);
  });
  if (around === undefined) return ahead;
  const turns = turnsAround(look, around, met, ahead.turns);
  const see = (slot: number, kind: "turn" | "alone") => {
    const cosine = model.vectors.has(slot) ? NOT_YET : Number.NaN;
    ahead.evidence[kind].set(slot, evidenceOf(model, slot, kind === "turn", around.names, cosine));
  };
  for (const slot of turns.keys()) see(slot, "turn");
  for (const slot of met.keys()) if (!turns.has(slot)) see(slot, "alone");
  return ahead;
}

const NOT_YET = 0;

export function gather(
  look: Look,
  hits: readonly Hit[],
  arm: VectorArm | undefined,
  ahead: Ahead = nothingAhead(),
): Gathered {
  const { model, tenant, filters, around } = look;
  const met = meet(model, hits, arm === undefined ? [] : nearest(model, tenant, arm, filters));
  const turns = around === undefined ? new Map<number, boolean>() : turnsAround(look, around, met, ahead.turns);
  const candidates: Candidate[] = [];
  const take = (slot: number, found: Met | undefined) => {
    const seen = ahead.candidates.get(slot);
    ahead.candidates.delete(slot);
    if (seen !== undefined && found !== undefined) seen.distance = found.distance;
    const candidate = seen ?? shownAt(look, slot, found);
    if (candidate !== undefined) candidates.push(candidate);
  };
  met.forEach((found, slot) => {
    take(slot, found);
  });
  turns.forEach((candidate, slot) => {
    if (candidate && !met.has(slot)) take(slot, undefined);
  });
  if (around === undefined) return { candidates, evidence: new Map() };
  const beside = [...turns.keys()];
  for (const slot of met.keys()) if (!turns.has(slot)) beside.push(slot);
  const cosine = cosines(model, arm, beside, met);
  const evidence = new Map<string, MemoryEvidence>();
  for (let i = 0; i < beside.length; i++) {
    const [slot, near] = [beside[i] as number, cosine[i] as number];
    const inSession = turns.has(slot);
    const seen = ahead.evidence[inSession ? "turn" : "alone"].get(slot);
    const isSame = seen !== undefined && (seen.cosine === undefined) === Number.isNaN(near);
    if (isSame && seen.cosine !== undefined) seen.cosine = near;
    const item = isSame ? seen : evidenceOf(model, slot, inSession, around.names, near);
    evidence.set(item.id, item);
  }
  return { candidates, evidence };
}

function shownAt({ model, filters }: Look, slot: number, found: Met | undefined): Writable<Candidate> | undefined {
  const row = model.rowAt(slot);
  if (row === undefined || !isShown(model, slot, row, filters)) return undefined;
  const retelling = filters.forBlock === true ? model.retellingOf(slot) : undefined;
  return candidateOf(row, found?.keyword ?? null, found?.distance ?? null, retelling);
}

/** Both arms by slot. Equal scores are told apart by id, as the store does. */
function meet(
  model: ReadModel,
  hits: readonly Hit[],
  near: readonly { slot: number; distance: number }[],
): Map<number, Met> {
  const met = new Map<number, Met>();
  const words: { readonly slot: number; readonly id: string; readonly score: number }[] = [];
  for (const hit of hits) {
    if (!("memoryId" in hit)) continue;
    const slot = slotOf(model, hit);
    if (slot !== undefined) words.push({ slot, id: hit.memoryId, score: hit.score });
  }
  words.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
  words.forEach(({ slot, score }, at) => {
    met.set(slot, { keyword: score, distance: null, rank: at + 1 });
  });
  const byDistance = near.toSorted(
    (a, b) => a.distance - b.distance || (model.idOf(a.slot) < model.idOf(b.slot) ? -1 : 1),
  );
  byDistance.forEach(({ slot, distance }, at) => {
    const known = met.get(slot);
    if (known === undefined) met.set(slot, { keyword: null, distance, rank: at + 1 });
    else {
      known.distance = distance;
      known.rank = Math.min(known.rank, at + 1);
    }
  });
  return met;
}

/** Looking up sixty ids among thousands took a tenth of a millisecond, and nearly always the slot is still that of the memory. */
function slotOf(model: ReadModel, { memoryId, place }: Extract<Hit, { memoryId: string }>): number | undefined {
  const isThere = place !== undefined && model.words.shelfOf(place) !== undefined && model.idOf(place) === memoryId;
  return isThere ? place : model.slotOf(memoryId);
}

const isLiveEpisode = (row: ReadRow, now: number): boolean =>
  row.state === "active" && row.expires_at !== null && row.expires_at > now;

function isShown(model: ReadModel, slot: number, row: ReadRow, filters: Filters): boolean {
  const now = filters.now.getTime();
  if (!matches(row, filters)) return false;
  if (row.type === "episode") return isLiveEpisode(row, now);
  if (!isLive(row.state)) return false;
  return (
    row.type === "rule" || ((row.valid_to === null || row.valid_to > now) && isTheValue(model, slot, row, filters))
  );
}

export function isTheValue(
  model: ReadModel,
  slot: number,
  row: ReadRow,
  look: Pick<Filters, "ladder" | "now" | "threshold">,
): boolean {
  const slots = model.lookups.sameKey(slot);
  if (slots.size <= 1 && row.waits_until === null) return true;
  const rivals = [...slots].flatMap((other) => model.rowAt(other) ?? []).filter(({ state }) => isLive(state));
  return isValue(heldOf(row), rivals.map(heldOf), look);
}

/** The live turns around one memory that was found, itself among them. */
interface Turns {
  /** It is among the best, around which more is looked at. */
  readonly best: boolean;
  readonly slots: readonly number[];
  /** For each whether it is a candidate of its own. */
  readonly candidates: readonly boolean[];
}

const NO_TURNS: readonly never[] = [];

/** The live turns around all memories that were found; true for those that are candidates of their own. What was looked at is kept in `known`. */
function turnsAround(
  { model, filters }: Look,
  s: Surroundings,
  met: ReadonlyMap<number, Met>,
  known: Map<number, Turns>,
): Map<number, boolean> {
  const now = filters.now.getTime();
  const furthest = { before: -Math.min(0, ...s.offsets) + s.before, after: Math.max(0, ...s.offsets) + s.after };
  const turns = new Map<number, boolean>();
  const around = (spot: number, best: boolean): Turns => {
    const row = model.rowAt(spot);
    const ordinal = row === undefined || row.session_id === null ? null : row.ordinal;
    if (ordinal === null) return { best, slots: NO_TURNS, candidates: NO_TURNS };
    const { before, after } = best ? furthest : s.others;
    const slots: number[] = [];
    const candidates: boolean[] = [];
    for (const slot of model.lookups.turns(spot, ordinal - before, ordinal + after)) {
      const turn = model.rowAt(slot);
      if (turn === undefined || !isLiveEpisode(turn, now)) continue;
      slots.push(slot);
      candidates.push(best && s.offsets.includes((turn.ordinal ?? 0) - ordinal));
    }
    return { best, slots, candidates };
  };
  met.forEach(({ rank }, spot) => {
    const best = rank <= s.best;
    let own = known.get(spot);
    if (own?.best !== best) {
      own = around(spot, best);
      known.set(spot, own);
    }
    for (let i = 0; i < own.slots.length; i++) {
      const slot = own.slots[i] as number;
      turns.set(slot, (own.candidates[i] as boolean) || (turns.get(slot) ?? false));
    }
  });
  return turns;
}

/** Of each of these slots, in their order; not a number where there is no vector. What the arm has compared is not compared again. */
function cosines(
  { vectors }: ReadModel,
  arm: VectorArm | undefined,
  slots: readonly number[],
  met: ReadonlyMap<number, Met>,
): Float64Array {
  const all = new Float64Array(slots.length).fill(Number.NaN);
  if (arm === undefined) return all;
  const left: number[] = [];
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i] as number;
    const known = met.get(slot)?.distance ?? null;
    if (known !== null) all[i] = 1 - known;
    else if (vectors.has(slot)) left.push(i);
  }
  const far = vectors.distances(
    vectors.queryOf(arm.query),
    Int32Array.from(left, (i) => slots[i] as number),
  );
  for (let at = 0; at < left.length; at++) all[left[at] as number] = 1 - (far[at] as number);
  return all;
}

function evidenceOf(
  model: ReadModel,
  slot: number,
  inSession: boolean,
  names: readonly string[],
  cosine: number,
): Writable<MemoryEvidence> {
  const { words, vectors, lookups } = model;
  const row = inSession ? model.rowAt(slot) : undefined;
  const hasVector = !Number.isNaN(cosine);
  const name = row === undefined ? undefined : lookups.nameOf(slot);
  return {
    id: model.idOf(slot),
    session: row === undefined ? undefined : lookups.sessionOf(slot),
    ordinal: row?.ordinal ?? 0,
    speaker: row?.speaker ?? undefined,
    name,
    asks: row?.asks ?? false,
    withNamed: row !== undefined && names.length > 0 && lookups.speaksIn(slot, names),
    len: words.lengthOf(slot),
    words: words.forwardOf(slot) ?? NOTHING,
    cosine: hasVector ? cosine : undefined,
    pieces: hasVector ? vectors.piecesOf(slot) : 0,
    tokens: hasVector ? vectors.tokensOf(slot) : undefined,
    told: name === undefined ? undefined : () => model.toldOf(slot),
  };
}

const NOTHING = new Uint8Array(0);

function candidateOf(
  row: ReadRow,
  keyword: number | null,
  distance: number | null,
  retelling: Retelling | undefined,
): Writable<Candidate> {
  const created = new Date(row.created_at);
  const occurred = row.occurred_at;
  return {
    type: row.type,
    id: row.id,
    keyword,
    distance,
    content: row.content,
    scope: row.scope,
    state: row.state,
    importance: row.importance,
    tags: row.tags,
    reference_count: row.reference_count,
    created_at: created,
    last_referenced_at: dateOf(row.last_referenced_at),
    prior_referenced_at: dateOf(row.prior_referenced_at),
    trust: row.trust,
    confidence: row.confidence,
    decay_rate: row.decay_rate,
    // Of an episode it is the same moment, and mostly that at which it happened.
    last_confirmed_at: row.last_confirmed_at === row.created_at ? created : new Date(row.last_confirmed_at),
    subject: row.subject,
    predicate: row.predicate,
    permanence: row.permanence,
    valid_from: dateOf(row.valid_from),
    valid_to: dateOf(row.valid_to),
    maturity: row.maturity,
    effectiveness: row.effectiveness,
    tier: row.tier,
    session_id: row.session_id,
    speaker: row.speaker,
    occurred_at: occurred === row.created_at ? created : dateOf(occurred),
    expires_at: dateOf(row.expires_at),
    corroborated_at: dateOf(row.corroborated_at),
    retelling,
  };
}
