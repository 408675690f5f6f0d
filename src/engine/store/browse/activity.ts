/**
 * The stream for people: the newest first, with filters. Of each type of event no more than a page is read from its own range of an
 * index, so that a type, a place or a day with few events costs no more than one with many: among 1,000,000 events a list of what
 * hardly ever happens would otherwise read them all.
 */
import type { Sql } from "../../adapters/db/port.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import { type Conditions, conditions } from "./conditions.ts";

export interface ActivityPage {
  readonly tenant: string;
  readonly scopes: readonly string[] | undefined;
  readonly entity: string | undefined;
  /** Only these types of events, or all but those of `without`. */
  readonly types: readonly string[] | undefined;
  readonly without: readonly string[];
  readonly actor: string | undefined;
  readonly session: string | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  /** The last event of the page before. */
  readonly before: EventPlace | undefined;
  readonly limit: number;
}

export interface EventPlace {
  readonly at: Date;
  readonly seq: string;
}

const COLUMNS = `seq, id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor, session_id,
  request_id, subrequest_id, segment_id, payload`;

const LATEST = "order by occurred_at desc, seq desc";

export async function listActivity(sql: Sql, page: ActivityPage): Promise<MemoryEvent[]> {
  const where = conditions();
  where.add([page.tenant], (tenant) => `e.tenant_id = ${tenant}`);
  where.given(page.actor, (actor) => `e.actor = ${actor}`);
  where.given(page.session, (session) => `e.session_id = ${session}`);
  where.given(page.from, (from) => `e.occurred_at >= ${from}::timestamptz`);
  where.given(page.to, (to) => `e.occurred_at < ${to}::timestamptz`);
  if (page.before !== undefined)
    where.add(
      [page.before.at, page.before.seq],
      (at, seq) => `(e.occurred_at, e.seq) < (${at}::timestamptz, ${seq}::int8)`,
    );
  const size = where.place(page.limit);
  // Events of an actor or a session are found by them; of all others each type has its own range.
  const found =
    page.session !== undefined || (page.actor !== undefined && page.types === undefined)
      ? straight(where, page, size)
      : byType(where, page, size);
  return sql.query<MemoryEvent>(
    `with found as materialized (${found})
     select ${COLUMNS} from memory_events where seq = any(array(select seq from found)) ${LATEST}`,
    where.params,
  );
}

function straight(where: Conditions, page: ActivityPage, size: string): string {
  where.given(page.scopes, (scopes) => `e.scope = any(${scopes}::text[])`);
  where.given(page.entity, (entity) => `e.entity_type = ${entity}`);
  where.given(page.types, (types) => `e.event_type = any(${types}::text[])`);
  if (page.types === undefined) where.add([page.without], (types) => `e.event_type <> all(${types}::text[])`);
  return `select e.seq from memory_events e where ${where.sql()} ${LATEST} limit ${size}`;
}

/** The types that there are, and in which places, are known from the totals. */
function byType(where: Conditions, page: ActivityPage, size: string): string {
  const kinds = conditions(where.params);
  kinds.add([], () => "t.tenant_id = $1");
  kinds.given(page.scopes, (scopes) => `t.scope = any(${scopes}::text[])`);
  kinds.given(page.types, (types) => `t.event_type = any(${types}::text[])`);
  if (page.types === undefined) kinds.add([page.without], (types) => `t.event_type <> all(${types}::text[])`);
  // A type begins with what it is about; readings are events of no memory.
  kinds.given(
    page.entity,
    (entity) => `split_part(t.event_type, '.', 1) = case ${entity} when 'read' then 'memory' else ${entity} end`,
  );
  const place = page.scopes === undefined ? "" : "t.scope, ";
  where.add([], () => `e.event_type = t.event_type${place === "" ? "" : " and e.scope = t.scope"}`);
  return `select l.seq from (select distinct ${place}t.event_type from event_totals t where ${kinds.sql()}) t
    cross join lateral (select e.seq, e.occurred_at from memory_events e where ${where.sql()} ${LATEST} limit ${size}) l
    order by l.occurred_at desc, l.seq desc limit ${size}`;
}
