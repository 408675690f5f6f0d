/**
 * Search and context as they would have been answered then: the same formulas over rows folded from the stream.
 * The cost grows with the events of the visible scopes up to that moment, not with the answer: see past.ts.
 */
import { type Hit, rank } from "../domain/bm25.ts";
import type { MemoryType } from "../domain/memory-types.ts";
import { countHashes } from "../domain/postings.ts";
import { nearestThen, withoutVector } from "../store/as-of.ts";
import type { ProfileItem } from "../store/profile.ts";
import type { Candidate } from "../store/search.ts";
import { type Embedded, queryVector } from "./filing.ts";
import type { Found } from "./find.ts";
import type { Call } from "./memory.ts";
import { filedText, memoriesThen, type PastMemory, rowsThen, shownThen } from "./past.ts";
import { NO_VECTOR, wordsOf } from "./question.ts";
import { ARM, type Retrieval, type RetrieveQuery, score } from "./retrieve.ts";

/** Memories whose vector is gone are embedded anew, the best by keyword first: 64 short texts take about 0.2 s. */
const EMBED_ANEW = 64;

export async function retrieveThen(call: Call, query: RetrieveQuery): Promise<Retrieval> {
  return retrieveAmong(call, query, await memoriesThen(call, query, wordsOf(query.text)));
}

export interface ContextThen {
  readonly lasting: readonly ProfileItem[];
  readonly retrieval: Retrieval;
}

/** What `readProfile` and `retrieve` would have said then, from one look at the stream. */
export async function contextThen(call: Call, query: RetrieveQuery, limit: number): Promise<ContextThen> {
  const memories = await memoriesThen(call, query, wordsOf(query.text));
  const first = (wanted: (memory: PastMemory) => boolean) =>
    memories.filter(wanted).toSorted(byImportance).slice(0, limit);
  const profile = [...first((m) => isLasting(m, call.now)), ...first((m) => m.maturity === "proven")];
  const rows = await rowsThen(
    call,
    profile.map(({ id }) => id),
  );
  return {
    lasting: profile.flatMap(({ id }) => profileItem(rows.get(id))),
    retrieval: await retrieveAmong(call, query, memories),
  };
}

const isLasting = (m: PastMemory, now: Date): boolean =>
  (m.permanence === "permanent" || m.permanence === "stable") &&
  m.importance >= 7 &&
  (m.valid_to === null || m.valid_to > now);

const byImportance = (a: PastMemory, b: PastMemory): number => b.importance - a.importance || byAge(a, b);
const byAge = (a: PastMemory, b: PastMemory): number =>
  b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? -1 : 1);

/** The columns that store/profile.ts gives. */
function profileItem(found: Found | undefined): ProfileItem[] {
  if (found === undefined || found.type === "episode") return [];
  const { id, content, importance, confidence, decay_rate, last_confirmed_at } = found.row;
  const shared = { id, content, importance, confidence, decay_rate, last_confirmed_at };
  if (found.type === "rule") return [{ ...shared, type: "rule", subject_text: "", predicate_text: "", permanence: "" }];
  const { subject_text, predicate_text, permanence } = found.row;
  return [{ ...shared, type: "fact", subject_text, predicate_text, permanence }];
}

async function retrieveAmong(call: Call, query: RetrieveQuery, memories: readonly PastMemory[]): Promise<Retrieval> {
  const groups = query.perType
    ? query.types.map((type) => memories.filter((memory) => memory.type === type))
    : [memories];
  const depth = query.perType ? query.wanted : Math.max(ARM, query.wanted);
  const shown = (memory: PastMemory) => matches(query, memory) && shownThen(call, memory, query.minConfidence);
  const byWords = (group: readonly PastMemory[]) => keywordArm(query, group, shown, depth);

  const started = performance.now();
  const vector = query.mode === "keyword" ? undefined : await queryVector(call.memory, query.text);
  const embedMs = performance.now() - started;
  const noModel = query.mode !== "keyword" && vector === undefined;
  const keyword = new Map<string, number>();
  const hasWords = query.mode !== "semantic" || noModel;
  if (hasWords) for (const group of groups) for (const [id, value] of byWords(group)) keyword.set(id, value);
  const meaning = new Map<string, number>();
  let missing = 0;
  if (vector !== undefined)
    for (const group of groups) {
      const arm = await vectorArm(call, group.filter(shown), vector, keyword, depth);
      for (const [id, distance] of arm.nearest) meaning.set(id, distance);
      missing += arm.missing;
    }

  const rows = await rowsThen(call, [...new Set([...keyword.keys(), ...meaning.keys()])]);
  const candidates = [...rows.values()].map((found) =>
    candidateOf(found, keyword.get(found.row.id) ?? null, meaning.get(found.row.id) ?? null),
  );
  return {
    results: score(call, candidates, vector !== undefined, hasWords),
    mode: query.mode,
    reranked: "none",
    degraded: noModel ? (call.memory.versions.degraded ?? NO_VECTOR) : missing === 0 ? undefined : lost(missing),
    embedMs,
  };
}

const lost = (n: number) =>
  `${n} memories of that time have no vector any more (deleted or reworded since) and are found by their words only.`;

function matches(query: RetrieveQuery, memory: PastMemory): boolean {
  if (query.tier !== undefined && memory.tier !== query.tier) return false;
  return (query.tags ?? []).every((tag) => memory.tags.includes(tag));
}

/** The formula of the index, over rows that are all unfolded. */
function keywordArm(
  query: RetrieveQuery,
  group: readonly PastMemory[],
  shown: (memory: PastMemory) => boolean,
  depth: number,
): [string, number][] {
  const terms = [...countHashes(wordsOf(query.text))].map(([hash, count]) => ({ hash, count }));
  const fresh = group.map(({ id, words }) => ({ id: uuidBytes(id), sk: 0, ...words }));
  const ranking = rank({ terms, shelves: [], blocks: [], fresh, gone: [] });
  const byId = new Map(group.map((memory) => [memory.id, memory]));
  const seen = ranking.top(ranking.total).filter((hit) => {
    const memory = byId.get(idOf(hit));
    return memory !== undefined && shown(memory);
  });
  const least = seen[depth - 1]?.score ?? 0;
  return seen.filter((hit) => hit.score >= least).map((hit) => [idOf(hit), hit.score]);
}

const idOf = (hit: Hit): string => ("memoryId" in hit ? hit.memoryId : "");
const uuidBytes = (id: string): Uint8Array => Buffer.from(id.replaceAll("-", ""), "hex");

async function vectorArm(
  call: Call,
  group: readonly PastMemory[],
  { version, vector: query }: Embedded,
  keyword: ReadonlyMap<string, number>,
  depth: number,
): Promise<{ nearest: [string, number][]; missing: number }> {
  const { db } = call.memory;
  if (group.length === 0) return { nearest: [], missing: 0 };
  const past = { version, dimensions: query.length, until: call.now };
  const preferred = group.toSorted((a, b) => (keyword.get(b.id) ?? 0) - (keyword.get(a.id) ?? 0) || byAge(a, b));
  const ids = preferred.map(({ id }) => id);
  const near = await nearestThen(db, past, ids, query, depth);
  const lacking = await withoutVector(db, past, ids, EMBED_ANEW);
  const rows = await rowsThen(call, lacking.ids);
  const anew = await Promise.all(
    lacking.ids.map(async (id): Promise<[string, number][]> => {
      const found = rows.get(id);
      const text = found && filedText(found.type, { ...found.row });
      const made = text === undefined ? undefined : await queryVector(call.memory, text);
      return made?.version === version ? [[id, distance(made.vector, query)]] : [];
    }),
  );
  const made = anew.flat();
  const nearest = [...near.map((row): [string, number] => [row.id, row.distance]), ...made]
    .toSorted(([, a], [, b]) => a - b)
    .slice(0, depth);
  return { nearest, missing: lacking.total - made.length };
}

function distance(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i] as number;
    const y = b[i] as number;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return 1 - dot / Math.sqrt(aa * bb);
}

/** The same columns as store/search.ts gives. */
function candidateOf(found: Found, keyword: number | null, near: number | null): Candidate {
  const { row, scope } = found;
  const { id, importance, tags, reference_count, created_at, last_referenced_at, prior_referenced_at } = row;
  const shared = {
    type: found.type as MemoryType,
    id,
    keyword,
    distance: near,
    content: row.content,
    scope,
    state: row.validity,
    ...{ importance, tags, reference_count, created_at, last_referenced_at, prior_referenced_at },
    ...NOTHING_ELSE,
  };
  if (found.type === "episode") {
    const { summary, content, tier, session_id, speaker, occurred_at, expires_at } = found.row;
    const sure = { confidence: 1, decay_rate: 0, last_confirmed_at: created_at };
    return { ...shared, ...sure, content: summary ?? content, tier, session_id, speaker, occurred_at, expires_at };
  }
  const { confidence, decay_rate, last_confirmed_at } = found.row;
  const fading = { ...shared, confidence, decay_rate, last_confirmed_at };
  if (found.type === "rule")
    return { ...fading, maturity: found.row.maturity, effectiveness: found.row.effectiveness_score };
  const { subject_text: subject, predicate_text: predicate, permanence, valid_from, valid_to } = found.row;
  return { ...fading, subject, predicate, permanence, valid_from, valid_to };
}

const NOTHING_ELSE = {
  subject: null,
  predicate: null,
  permanence: null,
  valid_from: null,
  valid_to: null,
  maturity: null,
  effectiveness: null,
  tier: null,
  session_id: null,
  speaker: null,
  occurred_at: null,
  expires_at: null,
} as const;
