/** The vector arm of a search: the nearest vectors of each group of shelves, and what the people said whom the question names. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Tier } from "../../domain/lifecycle/tiers.ts";
import type { Look } from "../../domain/present.ts";
import { isLive, isLiveEpisode, isVisible } from "../memories/live.ts";
import { vectorLiteral } from "../memories/rows.ts";
import type { Answered } from "./search.ts";

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
  /** What `nearestVectors` finds, if it was asked already: the lists are not asked for again. */
  readonly found?: Promise<readonly Near[]> | undefined;
  /** The candidates of what was found, if they were asked for too. */
  readonly brought?: Promise<Answered> | undefined;
  /** Finds memories below the usual threshold too. `visible_until` was computed for that threshold, so the rows are asked instead. */
  readonly faded: boolean;
}

/** `ladder` and `threshold` decide which of several facts under one key is returned. */
export interface Filters extends Look {
  readonly tags: readonly string[] | undefined;
  readonly tier: Tier | undefined;
  readonly exceptSession?: string | undefined;
  /** The candidates are told in a block: what earlier blocks made of them is looked up. */
  readonly forBlock?: boolean | undefined;
}

/** The vector arm alone, for a server: it takes as long as reading the words, and another connection can do it meanwhile. */
export const nearestVectors = (sql: Sql, arm: VectorArm, filters: Filters): Promise<readonly Near[]> =>
  nearAmong(sql, arm, filters, vectorSql);

/** The list of `theirs` alone. */
export const theirVectors = (sql: Sql, arm: VectorArm, filters: Filters): Promise<readonly Near[]> =>
  nearAmong(sql, arm, filters, (of, query, seenBy, param) => {
    const compared = comparing(of, query, seenBy, param);
    return theirsSql(of, compared, param) ?? NO_VECTORS;
  });

async function nearAmong(
  sql: Sql,
  arm: VectorArm,
  filters: Filters,
  listSql: typeof vectorSql,
): Promise<readonly Near[]> {
  const params: unknown[] = [filters.now, filters.tags ?? null, filters.tier ?? null];
  const param = (value: unknown) => `$${params.push(value)}`;
  const vectors = listSql(arm, `${param(vectorLiteral(arm.query))}::${arm.as}`, filters, param);
  const [all] = await sql.query<{ near: string | null }>(
    `with vectors as materialized (${vectors}), given as (select $1::timestamptz, $2::text[], $3::text)
     select json_agg(json_build_array(memory_id, distance))::text as near from vectors`,
    params,
  );
  return JSON.parse(all?.near ?? "[]") as Near[];
}

const LIVE = `exists (
    select 1 from episodes m where m.id = e.memory_id and ${isLiveEpisode("m", "$1")}
    union all select 1 from facts m where m.id = e.memory_id and ${isLive("m")}
    union all select 1 from rules m where m.id = e.memory_id and ${isLive("m")})`;

export const NO_VECTORS = `select null::uuid as memory_id, null::float8 as distance where false`;

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
export function vectorSql(arm: VectorArm, query: string, filters: Filters, param: Param): string {
  if (arm.groups.length === 0) return NO_VECTORS;
  const compared = comparing(arm, query, filters, param);
  const { distance, where } = compared;
  const lists = arm.groups.map(({ sks, exact, limit }) => {
    const near = (
      more = "",
    ) => `select e.memory_id, ${distance} as distance from embeddings e where ${where(sks)}${more}
        order by ${exact ? `(${distance}) + 0` : distance} limit ${limit}`;
    return exact || !hasGraph(arm) ? `(${near()})` : withWidth(`${param(sks)}::int4[]`, near(" and w.ef is not null"));
  });
  const theirs = theirsSql(arm, compared, param);
  // `union` drops what both lists have.
  return `${lists.join(" union all ")}${theirs === undefined ? "" : ` union (${theirs})`}`;
}

type Param = (value: unknown) => string;

interface Comparing {
  readonly distance: string;
  where(sks: readonly number[]): string;
}

function comparing(arm: VectorArm, query: string, filters: Filters, param: Param): Comparing {
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
  return {
    distance: `(e.embedding::${arm.as}) <=> ${query}`,
    where: (sks) =>
      `e.version_id = ${arm.version} and e.sk = any(${param(sks)}::int4[]) and ${seen}${narrowed}${foreign}`,
  };
}

/** All compared: an approximate index of everybody's vectors passes over many of them. */
function theirsSql({ theirs, groups }: VectorArm, { distance, where }: Comparing, param: Param): string | undefined {
  if (theirs === undefined) return undefined;
  return `select e.memory_id, ${distance} as distance
    from episodes t join embeddings e on e.memory_id = t.id
    where t.tenant_id = ${param(theirs.tenant)} and lower(split_part(t.speaker, ' ', 1)) = any(${param(theirs.names)}::text[])
      and ${where(groups.flatMap(({ sks }) => sks))}
    order by (${distance}) + 0 limit ${theirs.limit}`;
}
