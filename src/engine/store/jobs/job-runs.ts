/**
 * The runs of jobs, from the request for one to its end. A slot is the time at which a schedule wanted a run; `job_runs_once`
 * lets each slot have each attempt once, and `job_runs_running` lets one run of a job be under way, whichever process is
 * faster. A run belongs to its process until its lease ends.
 *
 *   waiting ──▶ running ──▶ done
 *                  ├──▶ failed         a scheduled one waits again, as the next attempt
 *                  └──▶ dead_letter    it was the last attempt
 *
 * Due times and leases are the database's time: processes on several machines share it. The times that people are shown
 * come from the clock of the process.
 */
import type { Sql } from "../../adapters/db/port.ts";

type RunState = "waiting" | "running" | "done" | "failed" | "dead_letter";
export type RunTrigger = "schedule" | "missed" | "backlog" | "manual";

/** A run that has started. */
export interface JobRun {
  readonly id: string;
  readonly job: string;
  readonly state: Exclude<RunState, "waiting">;
  readonly trigger: RunTrigger;
  readonly slot: Date | null;
  readonly attempt: number;
  readonly started_at: Date;
  readonly finished_at: Date | null;
  readonly report: Readonly<Record<string, unknown>> | null;
  readonly error: string | null;
}

const SHOWN = "id, job, state, trigger, slot, attempt, started_at, finished_at, report, error";

/** A run that waits, or that was taken and is under way. */
export interface WantedRun extends Pick<JobRun, "id" | "job" | "trigger" | "slot" | "attempt"> {
  /** Failures before this attempt; an attempt that goes on with an interrupted one begins to count anew. */
  readonly retries: number;
  /** Slots before this one that were missed. */
  readonly missed: number;
}

const WANTED = "id, job, trigger, slot, attempt, retries, missed";
const valuesOf = (run: WantedRun) => [run.id, run.job, run.trigger, run.slot, run.attempt, run.retries, run.missed];

/** False when this attempt of this slot is known already. */
export async function addRun(sql: Sql, run: WantedRun, delaySeconds: number): Promise<boolean> {
  const rows = await sql.query(
    `insert into job_runs (${WANTED}, state, due_at)
     values ($1, $2, $3, $4, $5, $6, $7, 'waiting', now() + make_interval(secs => $8::float8))
     on conflict (job, slot, attempt) where slot is not null do nothing returning id`,
    [...valuesOf(run), delaySeconds],
  );
  return rows.length > 0;
}

export interface Taking {
  readonly startedAt: Date;
  readonly leaseSeconds: number;
}

/** Begins a run that was not waiting. False when one of this job is under way anywhere. */
export async function startRun(sql: Sql, run: WantedRun, { startedAt, leaseSeconds }: Taking): Promise<boolean> {
  const rows = await sql.query(
    `insert into job_runs (${WANTED}, state, started_at, lease_until)
     values ($1, $2, $3, $4, $5, $6, $7, 'running', $8, now() + make_interval(secs => $9::float8))
     on conflict (job) where state = 'running' do nothing returning id`,
    [...valuesOf(run), startedAt, leaseSeconds],
  );
  return rows.length > 0;
}

const UNIQUE_VIOLATION = "23505";

/** Begins the run of a job that has waited longest; undefined when none is due, or when one is under way anywhere. */
export async function takeRun(sql: Sql, job: string, taking: Taking): Promise<WantedRun | undefined> {
  try {
    const [run] = await sql.query<WantedRun>(
      `update job_runs set state = 'running', started_at = $2, lease_until = now() + make_interval(secs => $3::float8)
       where id = (select id from job_runs where job = $1 and state = 'waiting' and due_at <= now()
           and not exists (select from job_runs where job = $1 and state = 'running')
         order by due_at, id limit 1 for update skip locked)
       returning ${WANTED}`,
      [job, taking.startedAt, taking.leaseSeconds],
    );
    return run;
  } catch (error) {
    // Another process began one between the look and the update.
    if (error instanceof Error && "code" in error && error.code === UNIQUE_VIOLATION) return undefined;
    throw error;
  }
}

/** Those of these jobs that another process runs at this moment; `own` are runs of this one. */
export async function runElsewhere(sql: Sql, jobs: readonly string[], own: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ job: string }>(
    `select job from job_runs where state = 'running' and lease_until > now()
       and job = any($1::text[]) and id <> all($2::uuid[]) order by job`,
    [jobs, own],
  );
  return rows.map(({ job }) => job);
}

/** False when the run has been taken to be dead meanwhile. */
export async function extendLease(sql: Sql, id: string, leaseSeconds: number): Promise<boolean> {
  const rows = await sql.query(
    `update job_runs set lease_until = now() + make_interval(secs => $2::float8)
     where id = $1 and state = 'running' returning id`,
    [id, leaseSeconds],
  );
  return rows.length > 0;
}

export interface RunEnd {
  readonly state: Exclude<JobRun["state"], "running">;
  readonly finished_at: Date;
  readonly report: object | null;
  readonly error: string | null;
}

/** False when the run was taken to be dead meanwhile, and another attempt has replaced it. */
export async function finishRun(sql: Sql, id: string, end: RunEnd): Promise<boolean> {
  const rows = await sql.query(
    `update job_runs set state = $2, finished_at = $3, report = $4::jsonb, error = $5, lease_until = null
     where id = $1 and state = 'running' returning id`,
    [id, end.state, end.finished_at, end.report === null ? null : JSON.stringify(end.report), end.error],
  );
  return rows.length > 0;
}

/** Runs whose lease has ended, or `all` that are under way when no other process can hold one; locked. */
export function lockDeadRuns(sql: Sql, all: boolean): Promise<WantedRun[]> {
  return sql.query<WantedRun>(
    `select ${WANTED} from job_runs where state = 'running' and ($1 or lease_until <= now())
     order by job for update skip locked`,
    [all],
  );
}

/** Those of these jobs that have a run which may start now, the one that has waited longest first. */
export async function dueJobs(sql: Sql, jobs: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ job: string }>(
    `select job from job_runs where state = 'waiting' and due_at <= now() and job = any($1::text[])
     group by job order by min(due_at), job`,
    [jobs],
  );
  return rows.map(({ job }) => job);
}

/** Jobs with a run that waits, now or for a later time. */
export async function waitingJobs(sql: Sql): Promise<Set<string>> {
  const rows = await sql.query<{ job: string }>(`select distinct job from job_runs where state = 'waiting'`);
  return new Set(rows.map(({ job }) => job));
}

/** How long until something is due that is not now: a retry, or the end of a lease. */
export async function msUntilDue(sql: Sql, jobs: readonly string[]): Promise<number | undefined> {
  const [row] = await sql.query<{ ms: number | null }>(
    `select (extract(epoch from min(case state when 'running' then lease_until else due_at end) - now()) * 1000)::float8 as ms
     from job_runs where state in ('waiting', 'running') and job = any($1::text[])`,
    [jobs],
  );
  return typeof row?.ms === "number" ? Math.max(0, row.ms) : undefined;
}

/** The latest slot of each job that had one. */
export async function lastSlots(sql: Sql): Promise<Record<string, Date>> {
  const rows = await sql.query<{ job: string; slot: Date }>(
    `select job, max(slot) as slot from job_runs where slot is not null and state <> 'waiting' group by job`,
  );
  return Object.fromEntries(rows.map(({ job, slot }) => [job, slot]));
}

export function recentRuns(sql: Sql, query: { job: string | undefined; limit: number }): Promise<JobRun[]> {
  return sql.query<JobRun>(
    `select ${SHOWN} from job_runs where state <> 'waiting' and ($1::text is null or job = $1)
     order by started_at desc, id desc limit $2`,
    [query.job ?? null, query.limit],
  );
}

export function latestRuns(sql: Sql): Promise<JobRun[]> {
  return sql.query<JobRun>(
    `select distinct on (job) ${SHOWN} from job_runs where state <> 'waiting' order by job, started_at desc, id desc`,
  );
}

/** When this memory began: before that there was nothing to do for a job, and nothing to miss. */
export async function firstEventAt(sql: Sql): Promise<Date | undefined> {
  const [row] = await sql.query<{ occurred_at: Date }>("select occurred_at from memory_events order by seq limit 1");
  return row?.occurred_at;
}
