/**
 * The second trip of a search: the vector arm, and the bodies of both arms' candidates, in one statement. (The first trip
 * brings the postings while the query is being embedded.) On a server the vector arm may have been asked for beside the first trip.
 */

import { PLAN_KEPT, type Sql } from "../../adapters/db/port.ts";
import type { Episode } from "../../domain/episode.ts";
import type { Fact } from "../../domain/fact.ts";
import type { Fading } from "../../domain/lifecycle/decay.ts";
import type { Validity } from "../../domain/lifecycle/lifecycle.ts";
import type { MemoryType, OrNull, StoredMemory } from "../../domain/memory-types.ts";
import type { MemoryEvidence } from "../../domain/ranking/late-interaction.ts";
import type { Retelling } from "../../domain/ranking/retelling.ts";
import type { Hit } from "../../domain/ranking/words/bm25.ts";
import type { Rule } from "../../domain/rule.ts";
import { isLive, isLiveEpisode, stillHolds } from "../memories/live.ts";
import { isValueSql } from "../memories/present.ts";
import { vectorLiteral } from "../memories/rows.ts";
import { aroundSql, type EvidenceRow, evidenceOf, evidenceSql, type Surroundings } from "./evidence.ts";
import { type Part, partSql } from "./known.ts";
import { hitParams, hitsSql } from "./lexical.ts";
import { type Filters, type Near, NO_VECTORS, type VectorArm, vectorSql } from "./nearest.ts";

export type { Filters, Near, VectorArm };

/** A memory as search sees it; columns that a type does not have are null. */
export interface Candidate
  extends Fading,
    Pick<StoredMemory, "id" | "content" | "importance" | "tags" | "reference_count" | "created_at">,
    Pick<StoredMemory, "last_referenced_at" | "prior_referenced_at" | "trust">,
    OrNull<Pick<Fact, "permanence" | "valid_from" | "valid_to" | "corroborated_at">>,
    OrNull<Pick<Rule, "maturity">>,
    OrNull<Pick<Episode, "tier" | "session_id" | "speaker" | "occurred_at" | "expires_at">> {
  readonly type: MemoryType;
  /** BM25 in millionths; null when the keyword arm did not meet it. */
  readonly keyword: number | null;
  /** Cosine distance; null when the vector arm did not bring it. */
  readonly distance: number | null;
  readonly scope: string;
  readonly state: Validity;
  /** As they were said: `subject_text` and `predicate_text`. */
  readonly subject: string | null;
  readonly predicate: string | null;
  readonly effectiveness: number | null;
  /** Where the memory is held in this process. */
  readonly retelling?: Retelling | undefined;
}

const SHARED = `m.importance, m.tags, m.reference_count, m.created_at, m.last_referenced_at, m.prior_referenced_at,
    m.trust`;

const EPISODES = `select 'episode' as type, c.id, c.keyword, c.distance, coalesce(m.summary, m.content) as content,
    m.butler as scope, m.validity as state, ${SHARED},
    1::float8 as confidence, 0::float8 as decay_rate, m.created_at as last_confirmed_at,
    null::text as subject, null::text as predicate, null::text as permanence,
    null::timestamptz as valid_from, null::timestamptz as valid_to, null::text as maturity, null::float8 as effectiveness,
    m.tier, m.session_id, m.speaker, m.occurred_at, m.expires_at, null::timestamptz as corroborated_at
  from found c join episodes m on m.id = c.id
  where ${isLiveEpisode("m", "$1")} and ($2::text[] is null or m.tags @> $2::text[])
    and ($3::text is null or m.tier = $3)`;

const FACTS = `select 'fact', c.id, c.keyword, c.distance, m.content, m.scope, m.validity, ${SHARED},
    m.confidence, m.decay_rate, m.last_confirmed_at, m.subject_text, m.predicate_text, m.permanence,
    m.valid_from, m.valid_to, null, null, null, null, null, null, null, m.corroborated_at
  from found c join facts m on m.id = c.id
  where ${isLive("m")} and ${stillHolds("m", "$1")}
    and ($2::text[] is null or m.tags @> $2::text[]) and $3::text is null`;

const RULES = `select 'rule', c.id, c.keyword, c.distance, m.content, m.scope, m.validity, ${SHARED},
    m.confidence, m.decay_rate, m.last_confirmed_at, null, null, null, null, null,
    m.maturity, m.effectiveness_score, null, null, null, null, null, m.corroborated_at
  from found c join rules m on m.id = c.id
  where ${isLive("m")} and ($2::text[] is null or m.tags @> $2::text[]) and $3::text is null`;

/** In the order in which they are concatenated; times are sent as milliseconds. */
const COLUMNS =
  `type id keyword distance content scope state importance tags reference_count created_at last_referenced_at
  prior_referenced_at trust confidence decay_rate last_confirmed_at subject predicate permanence valid_from valid_to maturity
  effectiveness tier session_id speaker occurred_at expires_at corroborated_at`.split(/\s+/) as (keyof Candidate)[];
const TIMES = new Set<keyof Candidate>(
  "created_at last_referenced_at prior_referenced_at last_confirmed_at valid_from valid_to occurred_at expires_at corroborated_at".split(
    " ",
  ) as (keyof Candidate)[],
);
/** Tags are arrays of different sizes, of which no array can be made. */
const GLUED = COLUMNS.map((name) =>
  name === "tags"
    ? "json_agg(m.tags)"
    : `array_agg(${TIMES.has(name) ? `extract(epoch from m.${name}) * 1000` : `m.${name}`})`,
).join(", ");

export interface Gathered {
  readonly candidates: Candidate[];
  /** Evidence for a reranker, when it was asked for. */
  readonly evidence: Map<string, MemoryEvidence>;
}

/** What one statement is asked for. */
export interface Wanted {
  readonly hits: readonly Hit[];
  readonly arm: VectorArm | undefined;
  /** What the vector arm has found already: it is not asked again. */
  readonly near: readonly Near[] | undefined;
  readonly filters: Filters;
  readonly around: Surroundings | undefined;
  readonly part?: Part;
}

export interface Answered extends Gathered {
  readonly row: AnswerRow | undefined;
}

/** The last three are there if they were asked for: known.ts. */
interface AnswerRow extends EvidenceRow {
  readonly rows: string | null;
  readonly snapshot?: string | null;
  readonly best?: string | null;
  readonly same?: boolean;
}

/**
 * The rows come as one JSON text: hundreds of rows of 30 columns cost the embedded store about as much to read field by
 * field and to hand from thread to thread as to find. For a context over 10,000 memories this statement took 33 to 59 ms
 * as rows and 20 to 27 ms as text, in four alternating runs on a busy machine. Every column is named: only then does a server's driver ask for
 * words and bits as bytes (postgres-bytes.ts).
 */
export async function askForCandidates(sql: Sql, wanted: Wanted): Promise<Answered> {
  const { hits, arm, near, filters, around, part } = wanted;
  const params: unknown[] = [filters.now, filters.tags ?? null, filters.tier ?? null, ...hitParams(hits)];
  const param = (value: unknown) => `$${params.push(value)}`;
  // A statement may not be given what it does not use.
  const isSearched = near === undefined && arm !== undefined && arm.groups.length > 0;
  const isCompared = arm !== undefined && (isSearched || around !== undefined);
  const query = isCompared ? `${param(vectorLiteral(arm.query))}::${arm.as}` : "";
  const vectors = near !== undefined ? nearSql(near, param) : arm ? vectorSql(arm, query, filters, param) : NO_VECTORS;
  const { first, words, met, isNew, columns } = partSql(part, around?.best ?? 0, param);
  const found =
    around === undefined
      ? "found as materialized (select id, keyword, distance from met)"
      : aroundSql(around, param, isNew);
  // Which index finds the nearest is decided for the shelves that are asked for.
  const kept = isSearched ? "" : PLAN_KEPT;
  const rows = `select json_build_array(${GLUED})::text
    from (${EPISODES} union all ${FACTS} and ${isValueSql("m", filters, param)} union all ${RULES}) as m`;
  const [row] = await sql.query<AnswerRow>(
    `with ${first}keyword as (select memory_id, score from (${hitsSql(4)}) as h${words}),
     vectors as materialized (${vectors}),
     met as materialized (
       select id, keyword, distance, rank from (select coalesce(k.memory_id, v.memory_id) as id, k.score as keyword, v.distance,
         least(k.rank, v.rank) as rank
       from (select memory_id, score, row_number() over (order by score desc, memory_id) as rank from keyword) k
       full join (select memory_id, distance, row_number() over (order by distance, memory_id) as rank from vectors) v
         on v.memory_id = k.memory_id) as m${met}),
     ${found}
     select (${rows}) as rows${columns}${around === undefined ? "" : `, w.facts, w.words, w.bits from (${evidenceSql(arm && { version: arm.version, as: arm.as, query })}) w`}${kept}`,
    params,
  );
  return {
    row,
    candidates: candidatesOf(JSON.parse(row?.rows ?? "[]")),
    evidence: row === undefined || around === undefined ? new Map() : evidenceOf(row),
  };
}

function nearSql(near: readonly Near[], param: (value: unknown) => string): string {
  const [ids, distances] = [param(near.map(([id]) => id)), param(near.map(([, distance]) => distance))];
  return `select memory_id, distance from unnest(${ids}::uuid[], ${distances}::float8[]) as v (memory_id, distance)`;
}

const IS_TIME = COLUMNS.map((name) => TIMES.has(name));

function candidatesOf(columns: readonly (readonly unknown[] | null)[]): Candidate[] {
  return Array.from({ length: columns[0]?.length ?? 0 }, (_, at) => {
    const row: Partial<Record<keyof Candidate, unknown>> = {};
    COLUMNS.forEach((name, index) => {
      const value = columns[index]?.[at];
      row[name] = IS_TIME[index] && typeof value === "number" ? new Date(value) : value;
    });
    return row as Candidate;
  });
}
