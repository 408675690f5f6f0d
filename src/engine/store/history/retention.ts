/** What the job `retention` reads of the stream. */
import type { Sql } from "../../adapters/db/port.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import type { ReplayEvent, RowJson } from "../../domain/replay.ts";
import type { OwnEvent } from "../../domain/retention/fold-memories.ts";
import type { ReadEvent } from "../../domain/retention/merge-reads.ts";
import { linkName } from "../../domain/undo/chronicle.ts";
import { RESET_EVENT } from "../jobs/judgements.ts";
import { TABLE_OF } from "../memories/live.ts";

const OF_MEMORIES = "entity_type in ('episode', 'fact', 'rule')";

export interface Reach {
  readonly tenant: string;
  readonly through: string;
}

/** The last place before which every event of the tenant is older than `before`, with the latest time among them. */
export async function reachBefore(
  sql: Sql,
  tenant: string,
  before: Date,
): Promise<{ through: string; until: Date } | undefined> {
  const [row] = await sql.query<{ through: string | null; until: Date | null }>(
    `with young as (select min(seq) as seq from memory_events where tenant_id = $1 and occurred_at >= $2)
     select max(e.seq)::text as through, max(e.occurred_at) as until from memory_events e, young
     where e.tenant_id = $1 and (young.seq is null or e.seq < young.seq)`,
    [tenant, before],
  );
  return row?.through && row.until ? { through: row.through, until: row.until } : undefined;
}

export interface ReadsReach extends Reach {
  /** Where adding up goes on. */
  readonly from: string;
}

/**
 * The same for the readings of many tenants, in one statement: those of whom anything older was added since their readings were last added up. What
 * was old then is old now, so that no earlier event is read.
 */
export function readsBefore(sql: Sql, tenants: readonly string[], before: Date): Promise<ReadsReach[]> {
  return sql.query<ReadsReach>(
    `select t.tenant, m.seq::text as from, o.seq::text as through
     from unnest($1::text[]) with ordinality as t (tenant, nth)
     cross join lateral (select coalesce(max(c.through), 0) as seq from event_checkpoints c
       where c.tenant_id = t.tenant and c.kind = 'reads') m
     cross join lateral (select min(e.seq) as seq from memory_events e
       where e.tenant_id = t.tenant and e.seq > m.seq and e.occurred_at >= $2) y
     cross join lateral (select max(e.seq) as seq from memory_events e
       where e.tenant_id = t.tenant and e.seq > m.seq and (y.seq is null or e.seq < y.seq)) o
     where o.seq is not null order by t.nth`,
    [tenants, before],
  );
}

/** Memories with more than their first event up to there, or with an end; in the order of their ids. */
export async function foldable(sql: Sql, { tenant, through }: Reach, after: string, limit: number): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select entity_id as id from memory_events
     where tenant_id = $1 and seq <= $2::int8 and ${OF_MEMORIES} and entity_id > $3
     group by entity_id
     having count(*) filter (where not (payload ? 'folded' and not payload ? 'row')) > 1
       or bool_or(event_type = 'episode.deleted' and not payload ? 'folded')
       or bool_and(payload ? 'erased')
     order by entity_id limit $4`,
    [tenant, through, after, limit],
  );
  return rows.map(({ id }) => id);
}

/** All events of these memories. No erasure and no other run changes them until the transaction ends. */
export function ownEvents(sql: Sql, tenant: string, ids: readonly string[]): Promise<OwnEvent[]> {
  return sql.query<OwnEvent>(
    `select seq, id, tenant_id, scope, event_type, entity_type, entity_id, occurred_at, actor, session_id, request_id, payload
     from memory_events where tenant_id = $1 and entity_id = any($2::uuid[]) and ${OF_MEMORIES} order by seq for update`,
    [tenant, ids],
  );
}

/** What was read of these memories, and of no others: an event of a whole day may name thousands. */
export function readsOfMemories(sql: Sql, tenant: string, ids: readonly string[]): Promise<ReplayEvent[]> {
  return sql.query<ReplayEvent>(
    `select e.seq, e.tenant_id, e.event_type, e.entity_type, e.entity_id, e.occurred_at, e.actor, e.session_id,
       jsonb_build_object('references', (select jsonb_agg(r) from jsonb_array_elements(e.payload -> 'references') r
         where r ->> 'id' = any($2::text[]))) as payload
     from memory_events e
     where e.tenant_id = $1 and e.event_type = 'memory.referenced'
       and jsonb_path_query_array(e.payload, '$.references[*].id') ?| $2::text[]
     order by e.seq`,
    [tenant, ids],
  );
}

/** Links of these memories by name, with the moment at which each was made. */
export async function linksOf(sql: Sql, tenant: string, ids: readonly string[]): Promise<Map<string, Date>> {
  const rows = await sql.query<{ source_id: string; target_id: string; relation: string; created_at: Date }>(
    `select source_id, target_id, relation, created_at from memory_links
     where tenant_id = $1 and (source_id = any($2::uuid[]) or target_id = any($2::uuid[]))`,
    [tenant, ids],
  );
  return new Map(rows.map((row) => [linkName(row), row.created_at]));
}

export async function hasUnlinked(sql: Sql, tenant: string): Promise<boolean> {
  const [row] = await sql.query<{ some: boolean }>(
    `select exists (select from event_totals where tenant_id = $1
       and (event_type like '%.undone' or event_type = 'erasure.done')) as some`,
    [tenant],
  );
  return row?.some ?? false;
}

/** Those whose stored row is not the one given; a memory without a row is given as gone. */
export async function differing(
  sql: Sql,
  type: MemoryType,
  rows: readonly RowJson[],
  gone: readonly string[],
): Promise<string[]> {
  const table = TABLE_OF[type];
  // Of episodes the column `consolidated` is made by the database.
  const plain = (row: string) => `to_jsonb(${row}) - 'consolidated'`;
  const found = await sql.query<{ id: string }>(
    `select v.id from jsonb_populate_recordset(null::${table}, $1::jsonb) v left join ${table} t on t.id = v.id
       where t.id is null or ${plain("t")} <> ${plain("v")}
     union all select id from ${table} where id = any($2::uuid[])`,
    [JSON.stringify(rows), gone],
  );
  return found.map(({ id }) => id);
}

export interface ReadQuery extends Reach {
  readonly after: string;
  readonly limit: number;
}

export function readEventsOf(sql: Sql, { tenant, through, after, limit }: ReadQuery): Promise<ReadEvent[]> {
  return sql.query<ReadEvent>(
    `select seq, id, scope, event_type, occurred_at, actor, session_id, payload from memory_events
     where tenant_id = $1 and event_type = 'memory.referenced' and seq > $3::int8 and seq <= $2::int8
     order by seq limit $4`,
    [tenant, through, after, limit],
  );
}

/** The places of events that store, change or delete these memories, within a part of the stream. */
export async function changesOf(
  sql: Sql,
  tenant: string,
  ids: readonly string[],
  from: string,
  to: string,
): Promise<Map<string, bigint[]>> {
  const rows = await sql.query<{ id: string; places: string[] }>(
    `select entity_id as id, array_agg(seq::text order by seq) as places from memory_events
     where tenant_id = $1 and entity_id = any($2::uuid[]) and seq > $3::int8 and seq < $4::int8
       and (payload ?| '{set,row,erased,folded}'::text[] or event_type = 'episode.deleted')
     group by entity_id`,
    [tenant, ids, from, to],
  );
  return new Map(rows.map(({ id, places }) => [id, places.map(BigInt)]));
}

export interface OldEvent {
  readonly id: string;
  readonly event_type: string;
  readonly marked: boolean;
}

/** Not those that say since when something holds, or that an erasure was made. */
const STAYS = `event_type = '${RESET_EVENT}' or entity_type = 'erasure'`;
const UNCOUNTED = `event_type = 'memory.referenced'
  and jsonb_path_query_array(payload, '$.references[*].id') ?| $3::text[]`;

/** Events about no memory, and readings that are in the rows of folded memories; `waiting` are memories that were not folded. */
export function otherEvents(sql: Sql, { tenant, through }: Reach, waiting: readonly string[], limit: number) {
  return sql.query<OldEvent>(
    `select id, event_type, payload ?| '{folded,erased}'::text[] as marked from memory_events
     where tenant_id = $1 and seq <= $2::int8 and not ${OF_MEMORIES} and not (${STAYS}) and not (${UNCOUNTED})
     order by seq limit $4`,
    [tenant, through, waiting, limit],
  );
}

/** How many events would go, by kind. */
export async function countOld(sql: Sql, { tenant, through }: Reach): Promise<{ folded: number; removed: number }> {
  const [row] = await sql.query<{ folded: number; removed: number }>(
    `select (count(*) filter (where ${OF_MEMORIES} and not payload ?| '{row,folded}'::text[]))::int4 as folded,
       (count(*) filter (where not ${OF_MEMORIES} and not (${STAYS})))::int4 as removed
     from memory_events where tenant_id = $1 and seq <= $2::int8`,
    [tenant, through],
  );
  return row ?? { folded: 0, removed: 0 };
}

export async function countMergeable(sql: Sql, { tenant, through }: Reach, after: string): Promise<number> {
  const [row] = await sql.query<{ n: number }>(
    `select (count(*) - count(distinct (scope, (occurred_at at time zone 'UTC')::date)))::int4 as n from memory_events
     where tenant_id = $1 and event_type = 'memory.referenced' and seq > $3::int8 and seq <= $2::int8`,
    [tenant, through, after],
  );
  return row?.n ?? 0;
}
