/** Which memories changed between two moments. */
import type { Sql } from "../../adapters/db/port.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import type { EventPlace } from "./activity.ts";

export interface ChangesQuery {
  readonly tenant: string;
  readonly scopes: readonly string[] | undefined;
  readonly types: readonly string[];
  readonly from: Date;
  readonly to: Date;
  /** The last event of the page before. */
  readonly after: EventPlace | undefined;
  readonly limit: number;
}

export interface ChangedMemory {
  readonly event: string;
  readonly at: Date;
  readonly type: MemoryType;
  readonly id: string;
  readonly events: readonly string[];
}

/**
 * Each memory by its last event in that time, the latest first. Every type of event is read from its own range of the index and no
 * further than a page, so that a year costs no more than a day. Ties are broken by
 * the number in the stream, which the index has too: a sweep fades thousands of facts at one moment.
 */
export function changedMemories(sql: Sql, query: ChangesQuery): Promise<ChangedMemory[]> {
  const { tenant, scopes, types, from, to, after, limit } = query;
  return sql.query<ChangedMemory>(
    `with last as materialized (
       select e.* from unnest($2::text[]) as t (type) cross join lateral (
         select id, seq, occurred_at, entity_type, entity_id from memory_events e
         where e.tenant_id = $1 and e.event_type = t.type and e.occurred_at > $4 and e.occurred_at <= $5
           and ($3::text[] is null or e.scope = any($3::text[]))
           and ($6::timestamptz is null or (e.occurred_at, e.seq) < ($6::timestamptz, $7::int8))
           and not exists (select from memory_events l where l.entity_id = e.entity_id and l.event_type = any($2::text[])
             and (l.occurred_at, l.seq) > (e.occurred_at, e.seq) and l.occurred_at <= $5)
         order by e.occurred_at desc, e.seq desc limit $8) e)
     select last.id as event, last.occurred_at as at, last.entity_type as type, last.entity_id as id,
       (select array_agg(distinct m.event_type) from memory_events m where m.entity_id = last.entity_id
          and m.event_type = any($2::text[]) and m.occurred_at > $4 and m.occurred_at <= $5) as events
     from last order by last.occurred_at desc, last.seq desc limit $8`,
    [tenant, types, scopes ?? null, from, to, after?.at ?? null, after?.seq ?? null, limit],
  );
}
