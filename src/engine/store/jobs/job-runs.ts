/**
 * The runs of jobs. A slot is the time at which a schedule wanted a run; `job_runs_once` lets each slot have each attempt
 * once, whichever process is faster.
 *
 *   running ──▶ done
 *      ├──▶ failed         tried again, as the next attempt
 *      └──▶ dead_letter    it was the last attempt
 */
import type { Sql } from "../../adapters/db/port.ts";

export type RunState = "running" | "done" | "failed" | "dead_letter";
export type RunTrigger = "schedule" | "missed" | "backlog" | "manual";

export interface JobRun {
  readonly id: string;
  readonly job: string;
  readonly state: RunState;
  readonly trigger: RunTrigger;
  readonly slot: Date | null;
  readonly attempt: number;
  readonly started_at: Date;
  readonly finished_at: Date | null;
  readonly report: Readonly<Record<string, unknown>> | null;
  readonly error: string | null;
}

const COLUMNS = "id, job, state, trigger, slot, attempt, started_at, finished_at, report, error";

export type NewRun = Pick<JobRun, "id" | "job" | "trigger" | "slot" | "attempt" | "started_at">;

/** False when this attempt of this slot was begun before. */
export async function startRun(sql: Sql, run: NewRun): Promise<boolean> {
  const rows = await sql.query(
    `insert into job_runs (id, job, state, trigger, slot, attempt, started_at)
     values ($1, $2, 'running', $3, $4, $5, $6)
     on conflict (job, slot, attempt) where slot is not null do nothing returning id`,
    [run.id, run.job, run.trigger, run.slot, run.attempt, run.started_at],
  );
  return rows.length > 0;
}

export interface RunEnd {
  readonly state: Exclude<RunState, "running">;
  readonly finished_at: Date;
  readonly report: object | null;
  readonly error: string | null;
}

/** False when the run was taken to be dead meanwhile, and another attempt has its place. */
export async function finishRun(sql: Sql, id: string, end: RunEnd): Promise<boolean> {
  const rows = await sql.query(
    `update job_runs set state = $2, finished_at = $3, report = $4::jsonb, error = $5
     where id = $1 and state = 'running' returning id`,
    [id, end.state, end.finished_at, end.report === null ? null : JSON.stringify(end.report), end.error],
  );
  return rows.length > 0;
}

/** The holder of a job's lease ends what its predecessors left behind: nobody else can be running it. */
export async function endPredecessors(sql: Sql, job: string, now: Date): Promise<void> {
  await sql.query(
    `update job_runs set state = 'failed', finished_at = $2, error = 'the process that ran it ended'
     where job = $1 and state = 'running'`,
    [job, now],
  );
}

/** Runs without a lease are dead. Those that the queue will not try again have reached the dead letters. */
export async function endDeadRuns(sql: Sql, now: Date): Promise<JobRun[]> {
  return sql.query<JobRun>(
    `update job_runs r set finished_at = $1, error = 'the process that ran it ended',
       state = case when r.slot is null or exists (
         select from pgboss.job j where j.name = r.job and j.state < 'active' and (j.data->>'slot')::timestamptz = r.slot
       ) then 'failed' else 'dead_letter' end
     where r.state = 'running' and not exists (
       select from pgboss.job j where j.name = r.job and j.state = 'active')
     returning ${COLUMNS}`,
    [now],
  );
}

/** The latest slot of each job that had one. */
export async function lastSlots(sql: Sql): Promise<Record<string, Date>> {
  const rows = await sql.query<{ job: string; slot: Date }>(
    `select job, max(slot) as slot from job_runs where slot is not null group by job`,
  );
  return Object.fromEntries(rows.map(({ job, slot }) => [job, slot]));
}

export function recentRuns(sql: Sql, query: { job: string | undefined; limit: number }): Promise<JobRun[]> {
  return sql.query<JobRun>(
    `select ${COLUMNS} from job_runs where $1::text is null or job = $1 order by started_at desc, id desc limit $2`,
    [query.job ?? null, query.limit],
  );
}

export function latestRuns(sql: Sql): Promise<JobRun[]> {
  return sql.query<JobRun>(`select distinct on (job) ${COLUMNS} from job_runs order by job, started_at desc, id desc`);
}

/** When this memory began: before that there was nothing to do for a job, and nothing to miss. */
export async function firstEventAt(sql: Sql): Promise<Date | undefined> {
  const [row] = await sql.query<{ occurred_at: Date }>("select occurred_at from memory_events order by seq limit 1");
  return row?.occurred_at;
}
