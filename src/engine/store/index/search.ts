/**
 * The second trip of a search: the vector arm, and the bodies of both arms' candidates, in one statement. (The first trip
 * brings the postings while the query is being embedded.) On a server the vector arm may have been asked for beside the first trip.
 */

import type { Sql } from "../../adapters/db/port.ts";
import type { Episode } from "../../domain/episode.ts";
import type { Fact } from "../../domain/fact.ts";
import type { Fading } from "../../domain/lifecycle/decay.ts";
import type { Validity } from "../../domain/lifecycle/lifecycle.ts";
import type { Tier } from "../../domain/lifecycle/tiers.ts";
import type { MemoryType, OrNull, StoredMemory } from "../../domain/memory-types.ts";
import type { Look } from "../../domain/present.ts";
import type { MemoryEvidence } from "../../domain/ranking/late-interaction.ts";
import type { Retelling } from "../../domain/ranking/retelling.ts";
import type { Hit } from "../../domain/ranking/words/bm25.ts";
import type { Rule } from "../../domain/rule.ts";
import { isLive, isLiveEpisode, isVisible, stillHolds } from "../memories/live.ts";
import { isValueSql } from "../memories/present.ts";
import { vectorLiteral } from "../memories/rows.ts";
import { aroundSql, type EvidenceRow, evidenceOf, evidenceSql, type Surroundings } from "./evidence.ts";
import { hitParams, hitsSql } from "./lexical.ts";

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

export interface VectorGroup {
  readonly sks: readonly number[];
  /** Few enough vectors on these shelves: compare them all instead of trusting an approximate index. */
  readonly exact: boolean;
  readonly limit: number;
}

/** A memory and its cosine distance from the question. */
export type Near = readonly [memoryId: string, distance: number];

export interface VectorArm {
  readonly version: number;
  /** The type that both sides are cast to: `comparedAs`. */
  readonly as: string;
  readonly query: Float32Array;
  /** Each group of shelves is searched by itself, so that many episodes cannot crowd out the few facts. */
  readonly groups: readonly VectorGroup[];
  /** A further list, of what the people said whom the question names. */
  readonly theirs: { readonly tenant: string; readonly names: readonly string[]; readonly limit: number } | undefined;
  /** What was found already, by `nearestVectors`: the lists are not asked for again. */
  readonly found?: readonly Near[] | undefined;
  /** Finds memories below the usual threshold too. `visible_until` was computed for that threshold, so the rows are asked instead. */
  readonly faded: boolean;
}

/** `ladder` and `threshold` decide which of several facts under one key is returned. */
export interface Filters extends Look {
  readonly tags: readonly string[] | undefined;
  readonly tier: Tier | undefined;
  readonly exceptSession?: string | undefined;
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

/**
 * The rows come as one JSON text: hundreds of rows of 30 columns cost the embedded store about as much to read field by
 * field and to hand from thread to thread as to find. For a context over 10,000 memories this statement took 33 to 59 ms
 * as rows and 20 to 27 ms as text, in four alternating runs on a busy machine.
 */
export async function gatherCandidates(
  sql: Sql,
  hits: readonly Hit[],
  arm: VectorArm | undefined,
  filters: Filters,
  around?: Surroundings,
): Promise<Gathered> {
  const params: unknown[] = [filters.now, filters.tags ?? null, filters.tier ?? null, ...hitParams(hits)];
  const param = (value: unknown) => `$${params.push(value)}`;
  // A statement may not be given what it does not use.
  const isCompared = arm !== undefined && (arm.found === undefined || around !== undefined);
  const query = isCompared ? `${param(vectorLiteral(arm.query))}::${arm.as}` : "";
  const vectors = arm === undefined ? NO_VECTORS : foundSql(arm, query, filters, param);
  const found = around === undefined ? "found as materialized (select * from met)" : aroundSql(around, param);
  const rows = `select json_build_array(${GLUED})::text
    from (${EPISODES} union all ${FACTS} and ${isValueSql("m", filters, param)} union all ${RULES}) as m`;
  const [all] = await sql.query<EvidenceRow & { rows: string | null }>(
    `with keyword as (${hitsSql(4)}),
     vectors as materialized (${vectors}),
     met as materialized (
       select coalesce(k.memory_id, v.memory_id) as id, k.score as keyword, v.distance,
         least(k.rank, v.rank) as rank
       from (select memory_id, score, row_number() over (order by score desc, memory_id) as rank from keyword) k
       full join (select memory_id, distance, row_number() over (order by distance, memory_id) as rank from vectors) v
         on v.memory_id = k.memory_id),
     ${found}
     select (${rows}) as rows${around === undefined ? "" : `, w.facts, w.words, w.bits from (${evidenceSql(arm && { version: arm.version, as: arm.as, query })}) w`}`,
    params,
  );
  return {
    candidates: candidatesOf(JSON.parse(all?.rows ?? "[]")),
    evidence: all === undefined || around === undefined ? new Map() : evidenceOf(all),
  };
}

/** The vector arm alone, for a server: it takes as long as reading the words, and another connection can do it meanwhile. */
export async function nearestVectors(sql: Sql, arm: VectorArm, filters: Filters): Promise<readonly Near[]> {
  const params: unknown[] = [filters.now, filters.tags ?? null, filters.tier ?? null];
  const param = (value: unknown) => `$${params.push(value)}`;
  const vectors = vectorSql(arm, `${param(vectorLiteral(arm.query))}::${arm.as}`, filters, param);
  const [all] = await sql.query<{ near: string | null }>(
    `with vectors as materialized (${vectors}), given as (select $1::timestamptz, $2::text[], $3::text)
     select json_agg(json_build_array(memory_id, distance))::text as near from vectors`,
    params,
  );
  return JSON.parse(all?.near ?? "[]") as Near[];
}

function foundSql(arm: VectorArm, query: string, filters: Filters, param: (value: unknown) => string): string {
  const { found } = arm;
  if (found === undefined) return vectorSql(arm, query, filters, param);
  const [ids, distances] = [param(found.map(([id]) => id)), param(found.map(([, distance]) => distance))];
  return `select * from unnest(${ids}::uuid[], ${distances}::float8[]) as v (memory_id, distance)`;
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

const LIVE = `exists (
    select 1 from episodes m where m.id = e.memory_id and ${isLiveEpisode("m", "$1")}
    union all select 1 from facts m where m.id = e.memory_id and ${isLive("m")}
    union all select 1 from rules m where m.id = e.memory_id and ${isLive("m")})`;

const NO_VECTORS = `select null::uuid as memory_id, null::float8 as distance where false`;

/** Only servers compare halves, and have a graph of neighbours. */
export const hasGraph = ({ as }: Pick<VectorArm, "as">) => as.startsWith("halfvec");

/**
 * How many neighbours the graph keeps in view: of a million vectors 200 found 90 % of the 20 nearest and 500 found 98 %, in twice the
 * time. The list asks for `w.ef`, so that the setting is made first; it ends with the transaction.
 */
const WIDE = { from: 500_000, ef: 500, else: 200 };
export const withWidth = (sks: string, list: string) => `(select l.* from (
      select set_config('hnsw.ef_search', case when sum(n) >= ${WIDE.from} then '${WIDE.ef}' else '${WIDE.else}' end, true) as ef
      from shelves where sk = any(${sks})) as w cross join lateral (${list}) as l)`;

/**
 * The version and the dimensions are numbers of ours and stand in the text: only then can the planner match the partial
 * expression index. Tags and tier are asked inside, so that a filter never empties an answer that exists.
 */
function vectorSql(arm: VectorArm, query: string, filters: Filters, param: (value: unknown) => string): string {
  if (arm.groups.length === 0) return NO_VECTORS;
  const distance = `(e.embedding::${arm.as}) <=> ${query}`;
  const narrowed =
    filters.tags === undefined && filters.tier === undefined
      ? ""
      : ` and exists (select 1 from episodes m where m.id = e.memory_id
            and ($2::text[] is null or m.tags @> $2::text[]) and ($3::text is null or m.tier = $3)
          union all select 1 from facts m where m.id = e.memory_id and m.tags @> $2::text[] and $3::text is null
          union all select 1 from rules m where m.id = e.memory_id and m.tags @> $2::text[] and $3::text is null)`;
  const foreign =
    filters.exceptSession === undefined
      ? ""
      : ` and not exists (select 1 from episodes m where m.id = e.memory_id and m.session_id = ${param(filters.exceptSession)})`;
  const seen = arm.faded ? LIVE : isVisible("e", "$1");
  const where = (sks: readonly number[]) =>
    `e.version_id = ${arm.version} and e.sk = any(${param(sks)}::int4[]) and ${seen}${narrowed}${foreign}`;
  const lists = arm.groups.map(({ sks, exact, limit }) => {
    const near = (
      more = "",
    ) => `select e.memory_id, ${distance} as distance from embeddings e where ${where(sks)}${more}
        order by ${exact ? `(${distance}) + 0` : distance} limit ${limit}`;
    return exact || !hasGraph(arm) ? `(${near()})` : withWidth(`${param(sks)}::int4[]`, near(" and w.ef is not null"));
  });
  if (arm.theirs === undefined) return lists.join(" union all ");
  const { tenant, names, limit } = arm.theirs;
  // All compared: an approximate index of everybody's vectors passes over many of them. `union` drops what both lists have.
  return `${lists.join(" union all ")} union (select e.memory_id, ${distance} as distance
    from episodes t join embeddings e on e.memory_id = t.id
    where t.tenant_id = ${param(tenant)} and lower(split_part(t.speaker, ' ', 1)) = any(${param(names)}::text[])
      and ${where(arm.groups.flatMap(({ sks }) => sks))}
    order by (${distance}) + 0 limit ${limit})`;
}
