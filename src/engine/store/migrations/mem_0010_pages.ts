/**
 * What people page through: facts in the order of their subjects, the events of a day, contradictions, and how many events of each
 * type every hour had. With 1,000,000 events counting those of 30 days took seconds; the table of hours has a few thousand rows for it.
 */
import { type Kysely, sql } from "kysely";

const HOUR = `date_bin('1 hour', occurred_at, timestamptz '2000-01-01 00:00:00+00')`;

const UP = [
  `create index memory_events_when on memory_events (tenant_id, event_type, occurred_at)`,
  `drop index memory_events_type`,
  `create index facts_pages on facts (tenant_id, subject collate "C", predicate collate "C", id) include (scope, validity)`,
  `create index facts_pages_state on facts (tenant_id, validity, subject collate "C", predicate collate "C", id)
     where validity <> 'active'`,
  `create index memory_links_contradicts on memory_links (tenant_id, created_at) where relation = 'contradicts'`,
  `create table event_hours (
     tenant_id text not null,
     hour timestamptz not null,
     event_type text not null,
     scope text not null,
     n int8 not null check (n > 0),
     primary key (tenant_id, event_type, hour, scope))`,
  `insert into event_hours (tenant_id, hour, event_type, scope, n)
     select tenant_id, ${HOUR}, event_type, scope, count(*) from memory_events group by 1, 2, 3, 4`,
  `create function memory_events_count_hours() returns trigger language plpgsql as $$
    begin
      insert into event_hours (tenant_id, hour, event_type, scope, n)
        select tenant_id, ${HOUR} as hour, event_type, scope, count(*) from added group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (tenant_id, event_type, hour, scope) do update set n = event_hours.n + excluded.n;
      return null;
    end $$`,
  `create trigger memory_events_counted after insert on memory_events
     referencing new table as added for each statement execute function memory_events_count_hours()`,
];

const DOWN = [
  `drop trigger memory_events_counted on memory_events`,
  `drop function memory_events_count_hours()`,
  `drop table event_hours`,
  `drop index memory_links_contradicts`,
  `drop index facts_pages_state`,
  `drop index facts_pages`,
  `create index memory_events_type on memory_events (tenant_id, event_type)`,
  `drop index memory_events_when`,
];

const run = (statements: readonly string[]) => async (db: Kysely<unknown>) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

export const mem_0010_pages = { up: run(UP), down: run(DOWN) };
