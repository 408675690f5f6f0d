/** Life follows use: a reference moves `expires_at`, and readers without a session count by who they are and the day. */
import { type Kysely, sql } from "kysely";

/** Readings without a session as the stream tells them; `readerOf` of engine/domain/replay.ts in SQL. */
const DAY = `(e.occurred_at at time zone 'UTC')::date`;
const READERS = `insert into episode_references (tenant_id, episode_id, session_id, day, n)
  select e.tenant_id, m.id, e.actor || ' ' || ${DAY}::text, ${DAY}, count(*)
  from memory_events e
  cross join lateral (select distinct (r ->> 'id')::uuid as id from jsonb_array_elements(e.payload -> 'references') r
    where r ->> 'type' = 'episode') as r
  join episodes m on m.id = r.id
  where e.event_type = 'memory.referenced' and e.session_id is null
  group by e.tenant_id, m.id, e.actor, ${DAY}`;

const UP = [
  // A column that every reading changes must be in no index, or rows could not change in place.
  `drop index episodes_expiry`,
  `delete from episode_references where session_id = ''`,
  READERS,
  // What kind of failure ended a run: trouble of the provider is waited out, and costs no episode an attempt.
  `alter table consolidation_runs add failure text`,
];

const DOWN = [
  `alter table consolidation_runs drop failure`,
  `insert into episode_references (tenant_id, episode_id, session_id, day, n)
     select tenant_id, episode_id, '', day, sum(n) from episode_references
     where session_id like '% ' || day::text group by 1, 2, 4`,
  `delete from episode_references where session_id like '% ' || day::text`,
  `create index episodes_expiry on episodes (expires_at)`,
];

async function run(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

export const mem_0007_life = {
  up: (db: Kysely<unknown>) => run(db, UP),
  down: (db: Kysely<unknown>) => run(db, DOWN),
};
