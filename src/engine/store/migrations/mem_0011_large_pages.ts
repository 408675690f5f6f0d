/**
 * What pages read in a store of 100,000 facts and 1,000,000 events: events by place, actor and session in the order of time, readings by
 * the memory that was read, facts by who found them and how far they are trusted, and how many events of each type there are at all.
 */
import { type Kysely, sql } from "kysely";

const HOUR = `date_bin('1 hour', occurred_at, timestamptz '2000-01-01 00:00:00+00')`;

const counting = (
  totals: string,
) => `create or replace function memory_events_count_hours() returns trigger language plpgsql as $$
    begin
      insert into event_hours (tenant_id, hour, event_type, scope, n)
        select tenant_id, ${HOUR} as hour, event_type, scope, count(*) from added group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (tenant_id, event_type, hour, scope) do update set n = event_hours.n + excluded.n;
      ${totals}return null;
    end $$`;

const TOTALS = `insert into event_totals (tenant_id, scope, event_type, n)
        select tenant_id, scope, event_type, count(*) from added group by 1, 2, 3 order by 1, 2, 3
        on conflict (tenant_id, scope, event_type) do update set n = event_totals.n + excluded.n;
      `;

const UP = [
  `create table event_totals (
     tenant_id text not null,
     scope text not null,
     event_type text not null,
     n int8 not null check (n > 0),
     primary key (tenant_id, scope, event_type)) with (fillfactor=50)`,
  `insert into event_totals (tenant_id, scope, event_type, n)
     select tenant_id, scope, event_type, count(*) from memory_events group by 1, 2, 3`,
  counting(TOTALS),
  `drop index memory_events_when`,
  `create index memory_events_when on memory_events (tenant_id, event_type, occurred_at, seq)`,
  `create index memory_events_place on memory_events (tenant_id, scope, event_type, occurred_at, seq)`,
  `create index memory_events_actor on memory_events (tenant_id, actor, occurred_at, seq)`,
  `create index memory_events_session on memory_events (tenant_id, session_id, seq) where session_id is not null`,
  `create index memory_events_said on memory_events (tenant_id, (payload -> 'row' ->> 'session_id'))
     where event_type = 'episode.stored'`,
  `create index memory_events_readings on memory_events using gin (jsonb_path_query_array(payload, '$.references[*].id'))
     with (gin_pending_list_limit = 512) where event_type = 'memory.referenced'`,
  `create index facts_reader on facts (tenant_id,
     (case when source like 'consolidation:%' then metadata #>> '{learned,by}' else source end),
     subject collate "C", predicate collate "C", id)`,
  `create index facts_trust on facts (tenant_id, trust, subject collate "C", predicate collate "C", id)`,
];

const DOWN = [
  `drop index facts_trust`,
  `drop index facts_reader`,
  `drop index memory_events_readings`,
  `drop index memory_events_said`,
  `drop index memory_events_session`,
  `drop index memory_events_actor`,
  `drop index memory_events_place`,
  `drop index memory_events_when`,
  `create index memory_events_when on memory_events (tenant_id, event_type, occurred_at)`,
  counting(""),
  `drop table event_totals`,
];

const run = (statements: readonly string[]) => async (db: Kysely<unknown>) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

export const mem_0011_large_pages = { up: run(UP), down: run(DOWN) };
