/** The audit stream. Events are written last in their transaction, under a lock per tenant, so that `seq` is commit order. */

import type { Sql } from "../../adapters/db/port.ts";
import type { MemoryEvent, NewEvent } from "../../domain/event.ts";

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
  const { tenant, after, scopes, since, limit, newest, without, session, memories } = query;
  const events = await sql.query<MemoryEvent>(
    `select seq, ${COLUMNS} from memory_events
     where tenant_id = $1 and seq > $2::int8
       and ($3::text[] is null or scope = any($3::text[]))
       and ($4::timestamptz is null or occurred_at >= $4::timestamptz)
       and event_type <> all($6::text[])
       and (($7::text is null and $8::uuid[] is null) or session_id = $7 or entity_id = any($8::uuid[]))
     order by seq ${newest ? "desc" : "asc"} limit $5`,
    [tenant, after, scopes ?? null, since ?? null, limit, without, session ?? null, memories ?? null],
  );
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

export function historyOf(sql: Sql, tenant: string, entityId: string, limit: number): Promise<MemoryEvent[]> {
  return sql.query<MemoryEvent>(
    `select seq, ${COLUMNS} from memory_events where tenant_id = $1 and entity_id = $2 order by seq desc limit $3`,
    [tenant, entityId, limit],
  );
}
