/**
 * Events of a session in the order of time, as a page shows them: it reads its newest and stops. By their number in the stream alone all of a
 * session had to be read and sorted. The stream of a session, which follows the numbers, reads every memory of the session anyway.
 */
import { type Kysely, sql } from "kysely";

const UP = [
  `drop index memory_events_session`,
  `create index memory_events_session on memory_events (tenant_id, session_id, occurred_at, seq) where session_id is not null`,
];

const DOWN = [
  `drop index memory_events_session`,
  `create index memory_events_session on memory_events (tenant_id, session_id, seq) where session_id is not null`,
];

const run = (statements: readonly string[]) => async (db: Kysely<unknown>) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

export const mem_0020_session_order = { up: run(UP), down: run(DOWN) };
