/** What the stream says of a moment in the past: events up to then, and the vectors that were made of the words of then. */

import type { Sql } from "../../adapters/db/port.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import type { Link } from "../../domain/link.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import type { RowJson } from "../../domain/replay.ts";
import { linksSeen } from "../memories/links.ts";
import { vectorLiteral } from "../memories/rows.ts";

export interface EntityEvent {
  readonly seq: string;
  readonly type: MemoryType;
  readonly id: string;
  readonly scope: string;
  readonly event_type: string;
  readonly row: RowJson | null;
  readonly set: RowJson | null;
  /** Of an event that stands for all up to a place: the readings up to there are in its row. */
  readonly through: string | null;
}

/** Everything that changed these memories until then, whole, in order. */
export function eventsOf(
  sql: Sql,
  tenant: string,
  ids: readonly string[],
  until: Date,
  after: string,
  limit: number,
): Promise<EntityEvent[]> {
  return sql.query<EntityEvent>(
    `select seq, entity_type as type, entity_id as id, scope, event_type,
       payload -> 'row' as row, payload -> 'set' as set, payload #>> '{folded,through}' as through
     from memory_events
     where tenant_id = $1 and entity_id = any($2::uuid[]) and occurred_at <= $3 and seq > $4::int8
       and entity_type in ('episode', 'fact', 'rule')
     order by seq limit $5`,
    [tenant, ids, until, after, limit],
  );
}

export interface Readings {
  readonly id: string;
  readonly n: number;
  readonly last: Date;
  /** The latest reference before the day of `last`. */
  readonly prior: Date | null;
  /** Until when an episode lived because of these references. */
  readonly expires_at: Date | null;
}

/**
 * How often these memories had been read until then, and when: what counting one by one (engine/domain/replay.ts) comes to.
 * Readings that were added up are of one day. `since` is the event after which to count, for each. The readings of these memories are found by an index.
 */
export function readingsOf(
  sql: Sql,
  tenant: string,
  memories: readonly { readonly id: string; readonly since: string }[],
  until: Date,
): Promise<Readings[]> {
  return sql.query<Readings>(
    `with asked as (select * from unnest($2::text[], $3::int8[]) as a (id, since)),
     hits as materialized (
       select distinct e.seq, coalesce(r.last, e.occurred_at) as at, (e.occurred_at at time zone 'UTC')::date as day, a.id,
         r.expires_at, coalesce(r.n, 1) as n
       from memory_events e
       cross join lateral jsonb_to_recordset(e.payload -> 'references') as r (id text, expires_at timestamptz, n int4, last timestamptz)
       join asked a on a.id = r.id and e.seq > a.since
       where e.tenant_id = $1 and e.event_type = 'memory.referenced' and e.occurred_at <= $4
         and jsonb_path_query_array(e.payload, '$.references[*].id') ?| $2::text[]),
     lasts as (select id, sum(n)::int4 as n, max(at) as last, max(day) as day, max(expires_at) as expires_at
       from hits group by id),
     entered as (select h.id, min(h.seq) as seq from hits h join lasts l on l.id = h.id and l.day = h.day group by h.id)
     select l.id, l.n, l.last, l.expires_at, (select max(h.at) from hits h where h.id = l.id and h.seq < e.seq) as prior
     from lasts l join entered e on e.id = l.id`,
    [tenant, memories.map((m) => m.id), memories.map((m) => m.since), until],
  );
}

export interface PastVectors {
  readonly version: number;
  /** `comparedAs`. */
  readonly as: string;
  readonly until: Date;
}

/** A vector made of words that came later does not speak for the words of then. */
const SAME_WORDS = (until: string) => `not exists (select 1 from memory_events v
    where v.entity_id = e.memory_id and v.occurred_at > ${until} and v.payload -> 'set' ? 'content')`;

/** The nearest of these memories, by vectors that are still there. All are compared; an index would not help here. */
export function nearestThen(
  sql: Sql,
  past: PastVectors,
  ids: readonly string[],
  query: Float32Array,
  limit: number,
): Promise<{ id: string; distance: number }[]> {
  return sql.query(
    `select e.memory_id as id, (e.embedding::${past.as}) <=> $1::${past.as} as distance from embeddings e
     where e.version_id = $2 and e.memory_id = any($3::uuid[]) and ${SAME_WORDS("$4")}
     order by distance, e.memory_id limit $5`,
    [vectorLiteral(query), past.version, ids, past.until, limit],
  );
}

/** Those of `ids` that have no vector for their words of then, in the order given. */
export async function withoutVector(
  sql: Sql,
  past: PastVectors,
  ids: readonly string[],
  limit: number,
): Promise<{ ids: string[]; total: number }> {
  const rows = await sql.query<{ id: string; total: number }>(
    `select u.id, (count(*) over ())::int4 as total from unnest($1::uuid[]) with ordinality as u (id, nth)
     where not exists (select 1 from embeddings e
       where e.memory_id = u.id and e.version_id = $2 and ${SAME_WORDS("$3")})
     order by u.nth limit $4`,
    [ids, past.version, past.until, limit],
  );
  return { ids: rows.map((row) => row.id), total: rows[0]?.total ?? 0 };
}

export interface VectorThen {
  readonly id: string;
  readonly cosine: number;
  readonly pieces: number | null;
  readonly tokens: Uint8Array | null;
}

/** What the vectors that are still there say of these memories: evidence for a reranker. */
export function vectorsThen(
  sql: Sql,
  past: PastVectors,
  ids: readonly string[],
  query: Float32Array,
): Promise<VectorThen[]> {
  return sql.query<VectorThen>(
    `select e.memory_id as id, 1 - ((e.embedding::${past.as}) <=> $1::${past.as}) as cosine, e.word_pieces as pieces, e.tokens
     from embeddings e where e.version_id = $2 and e.memory_id = any($3::uuid[]) and ${SAME_WORDS("$4")}`,
    [vectorLiteral(query), past.version, ids, past.until],
  );
}

export function linksThen(
  sql: Sql,
  tenant: string,
  id: string,
  until: Date,
  scopes: readonly string[] | undefined,
): Promise<Link[]> {
  return sql.query<Link>(
    `select tenant_id, source_type, source_id, target_type, target_id, relation, request_id, created_at
     from memory_links where tenant_id = $1 and (source_id = $2 or target_id = $2) and created_at <= $3
       and ${linksSeen(4)}
     order by created_at, relation, source_id, target_id limit 200`,
    [tenant, id, until, scopes ?? null],
  );
}

type Told = Pick<MemoryEvent, "event_type" | "occurred_at" | "actor" | "request_id">;

/** Latest first. */
export function historyThen(sql: Sql, tenant: string, id: string, until: Date, limit: number): Promise<Told[]> {
  return sql.query<Told>(
    `select event_type, occurred_at, actor, request_id from memory_events
     where tenant_id = $1 and entity_id = $2 and occurred_at <= $3 order by seq desc limit $4`,
    [tenant, id, until, limit],
  );
}
