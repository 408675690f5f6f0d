/** The audit stream. Events are written last in their transaction, under a lock per tenant, so that `seq` is commit order. */

import type { Sql } from "../../adapters/db/port.ts";
import type { MemoryEvent, NewEvent } from "../../domain/event.ts";
import { conditions } from "../browse/conditions.ts";

const COLUMNS = `id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor,
  session_id, request_id, subrequest_id, segment_id, payload`;

export async function appendEvents(sql: Sql, events: readonly NewEvent[]): Promise<void> {
  const tenant = events[0]?.tenant_id;
  if (tenant === undefined) return;
  // The lock makes readers of the stream safe: without it, a transaction that took a low `seq` could commit after a
  // reader has passed a higher one, and its event would never be seen.
  await sql.query(
    `with queue as materialized (select pg_advisory_xact_lock(hashtextextended($2, 7031)))
     insert into memory_events (${COLUMNS})
     select ${COLUMNS} from queue, jsonb_populate_recordset(null::memory_events, $1::jsonb)`,
    [JSON.stringify(events), tenant],
  );
}

/**
 * Events of several tenants in two statements: one for each tenant made a batch of a thousand expired episodes, which belong to about as many tenants, a
 * thousand statements. Within a tenant they keep their order.
 */
export async function appendForTenants(sql: Sql, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await lockStreams(
    sql,
    events.map((event) => event.tenant_id),
  );
  await sql.query(
    `insert into memory_events (${COLUMNS}) select ${COLUMNS} from jsonb_populate_recordset(null::memory_events, $1::jsonb)`,
    [JSON.stringify(events)],
  );
}

/** For writers that insert events by themselves, of several tenants: last in their transaction, and in one order for all. */
export async function lockStreams(sql: Sql, tenants: readonly string[]): Promise<void> {
  await sql.query(`select pg_advisory_xact_lock(hashtextextended(t, 7031)) from unnest($1::text[]) as t`, [
    [...new Set(tenants)].toSorted(),
  ]);
}

export interface StreamQuery {
  readonly tenant: string;
  readonly scopes: readonly string[] | undefined;
  readonly since: Date | undefined;
  readonly after: string;
  readonly limit: number;
  /** The last ones; still the oldest of them first. */
  readonly newest: boolean;
  /** Types of events that are left out. */
  readonly without: readonly string[];
  /** Only events of this session. */
  readonly session: string | undefined;
  /** Only events of these memories; with a session, these too. */
  readonly memories: readonly string[] | undefined;
}

export async function readStream(sql: Sql, query: StreamQuery): Promise<MemoryEvent[]> {
  const { newest, session, memories } = query;
  const where = conditions();
  where.add([query.tenant, query.after], (tenant, after) => `tenant_id = ${tenant} and seq > ${after}::int8`);
  where.given(query.scopes, (scopes) => `scope = any(${scopes}::text[])`);
  where.given(query.since, (since) => `occurred_at >= ${since}::timestamptz`);
  if (query.without.length > 0) where.add([query.without], (types) => `event_type <> all(${types}::text[])`);
  const size = where.place(query.limit);
  const order = `order by seq ${newest ? "desc" : "asc"} limit ${size}`;
  const all = `select seq, ${COLUMNS} from memory_events where`;
  const part = (more: string) => `(select seq from memory_events where ${where.sql()} and ${more} ${order})`;
  // Two lists that are merged: "this session or these memories" in one condition would read the whole stream.
  const parts = [
    ...(session === undefined ? [] : [`session_id = ${where.place(session)}`]),
    ...(memories === undefined ? [] : [`entity_id = any(${where.place(memories)}::uuid[])`]),
  ];
  const text =
    parts.length === 0
      ? `${all} ${where.sql()} ${order}`
      : `${all} seq = any(array(${parts.map(part).join(" union ")})) ${order}`;
  const events = await sql.query<MemoryEvent>(text, where.params);
  return newest ? events.toReversed() : events;
}

/** The episodes of a session, those that are deleted by now too, and what was learned from them. */
export async function memoriesOfSession(sql: Sql, tenant: string, session: string): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `with said as (
       select entity_id as id from memory_events
       where tenant_id = $1 and event_type = 'episode.stored' and payload -> 'row' ->> 'session_id' = $2)
     select id from said
     union select l.source_id from memory_links l join said on said.id = l.target_id
       where l.tenant_id = $1 and l.relation = 'derived_from'
     union select l.target_id from memory_links l join said on said.id = l.source_id
       where l.tenant_id = $1 and l.relation = 'supports'`,
    [tenant, session],
  );
  return rows.map(({ id }) => id);
}

export async function seqOf(sql: Sql, tenant: string, id: string): Promise<string | undefined> {
  const [event] = await sql.query<{ seq: string }>("select seq from memory_events where tenant_id = $1 and id = $2", [
    tenant,
    id,
  ]);
  return event?.seq;
}

/**
 * Where an event stood that retention may have removed: after the last one that is not younger than its id, which holds its time.
 * Undefined where nothing was ever removed.
 */
export async function placeOfRemoved(sql: Sql, tenant: string, id: string): Promise<string | undefined> {
  const at = new Date(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16));
  const [place] = await sql.query<{ seq: string }>(
    `select coalesce((select max(seq) from memory_events where tenant_id = $1 and occurred_at <= $2), 0)::text as seq
     where exists (select from event_checkpoints where tenant_id = $1 and until >= $2 and kind <> 'keys')`,
    [tenant, at],
  );
  return place?.seq;
}

/** Where an event stands among those of its tenant, by time. */
export async function placeOfEvent(
  sql: Sql,
  tenant: string,
  id: string,
): Promise<{ readonly at: Date; readonly seq: string } | undefined> {
  const [event] = await sql.query<{ at: Date; seq: string }>(
    "select occurred_at as at, seq from memory_events where tenant_id = $1 and id = $2",
    [tenant, id],
  );
  return event;
}

export function historyOf(sql: Sql, tenant: string, entityId: string, limit: number): Promise<MemoryEvent[]> {
  return sql.query<MemoryEvent>(
    `select seq, ${COLUMNS} from memory_events where tenant_id = $1 and entity_id = $2 order by seq desc limit $3`,
    [tenant, entityId, limit],
  );
}
