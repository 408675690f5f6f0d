/** The stream for people: the newest first, with filters. */
import type { Sql } from "../../adapters/db/port.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import { conditions } from "./conditions.ts";

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
  /** The number of the last event of the page before. */
  readonly before: string | undefined;
  readonly limit: number;
}

export function listActivity(sql: Sql, page: ActivityPage): Promise<MemoryEvent[]> {
  const where = conditions();
  where.add([page.tenant], (tenant) => `tenant_id = ${tenant}`);
  where.given(page.scopes, (scopes) => `scope = any(${scopes}::text[])`);
  where.given(page.entity, (entity) => `entity_type = ${entity}`);
  if (page.types === undefined) where.add([page.without], (types) => `event_type <> all(${types}::text[])`);
  else where.add([page.types], (types) => `event_type = any(${types}::text[])`);
  where.given(page.actor, (actor) => `actor = ${actor}`);
  where.given(page.session, (session) => `session_id = ${session}`);
  where.given(page.from, (from) => `occurred_at >= ${from}::timestamptz`);
  where.given(page.to, (to) => `occurred_at < ${to}::timestamptz`);
  where.given(page.before, (seq) => `seq < ${seq}::int8`);
  const size = where.place(page.limit);
  return sql.query<MemoryEvent>(
    `select seq, id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor, session_id,
       request_id, subrequest_id, segment_id, payload
     from memory_events where ${where.sql()} order by seq desc limit ${size}`,
    where.params,
  );
}
