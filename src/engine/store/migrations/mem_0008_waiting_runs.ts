/** Runs of jobs wait, hold leases and are tried again in `job_runs` itself, which needs no other queue beside it. */
import { type Kysely, sql } from "kysely";

const check = (name: string, condition: string) => [
  `alter table job_runs drop constraint if exists ${name}`,
  `alter table job_runs add constraint ${name} check (${condition})`,
];

/** Whoever ran it did not know of leases, and ended before the store was migrated. */
const ENDED = `update job_runs set state = 'failed', finished_at = now(), error = 'the process that ran it ended'
  where state = 'running'`;

/** The latest run of each job, if it failed or was interrupted and another attempt was still to come. */
const AGAIN = `insert into job_runs (id, job, state, trigger, slot, attempt, retries, due_at)
  select gen_random_uuid(), job, 'waiting', trigger, slot, attempt + 1, least(attempt, 3), now()
  from (select distinct on (job) * from job_runs where slot is not null order by job, slot desc, attempt desc) as r
  where state = 'failed' and (report is null or report ->> 'complete' = 'false')`;

const UP = [
  ENDED,
  `alter table job_runs add due_at timestamptz`,
  `alter table job_runs add lease_until timestamptz`,
  `alter table job_runs add retries int4 not null default 0 check (retries >= 0)`,
  `alter table job_runs add missed int4 not null default 0 check (missed >= 0)`,
  `alter table job_runs alter started_at drop not null`,
  ...check("job_runs_state_check", `state in ('waiting', 'running', 'done', 'failed', 'dead_letter')`),
  ...check("job_runs_check", `(state in ('waiting', 'running')) = (finished_at is null)`),
  ...check("job_runs_started", `(state = 'waiting') = (started_at is null)`),
  ...check("job_runs_due", `state <> 'waiting' or due_at is not null`),
  ...check("job_runs_lease", `(state = 'running') = (lease_until is not null)`),
  `create unique index job_runs_running on job_runs (job) where state = 'running'`,
  `create index job_runs_waiting on job_runs (job, due_at) where state = 'waiting'`,
  AGAIN,
];

const DOWN = [
  `drop index job_runs_waiting`,
  `drop index job_runs_running`,
  `delete from job_runs where state = 'waiting'`,
  ...["job_runs_lease", "job_runs_due", "job_runs_started"].map(
    (name) => `alter table job_runs drop constraint ${name}`,
  ),
  ENDED,
  ...check("job_runs_check", `(state = 'running') = (finished_at is null)`),
  ...check("job_runs_state_check", `state in ('running', 'done', 'failed', 'dead_letter')`),
  `alter table job_runs alter started_at set not null`,
  ...["missed", "retries", "lease_until", "due_at"].map((column) => `alter table job_runs drop ${column}`),
];

async function run(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

export const mem_0008_waiting_runs = {
  up: (db: Kysely<unknown>) => run(db, UP),
  down: (db: Kysely<unknown>) => run(db, DOWN),
};
