/** Performs a run that has been taken: holds its lease, writes its end, and adds the next attempt. */
import type { Db, Sql } from "../../adapters/db/port.ts";
import { secondsSince } from "../../adapters/meter.ts";
import { span } from "../../adapters/trace.ts";
import { messageOf } from "../../domain/errors.ts";
import {
  addRun,
  extendLease,
  finishRun,
  lockDeadRuns,
  type RunEnd,
  type RunTrigger,
  type WantedRun,
} from "../../store/jobs/job-runs.ts";
import type { Memory } from "../memory.ts";
import { allCounted } from "../recall/reference.ts";
import type { Job, JobReport } from "./job.ts";

export interface RunTiming {
  /** Attempts after the first. */
  readonly retryLimit: number;
  /** The first back-off; each further one is twice as long. Up to as much again is added at random. */
  readonly retryDelaySeconds: number;
  /** A run whose lease was not extended for this long is taken to be dead. */
  readonly leaseSeconds: number;
}

export const TIMING: RunTiming = { retryLimit: 3, retryDelaySeconds: 30, leaseSeconds: 120 };

/** Extensions in one lease: one that is late because of a long statement does not lose the lease. */
const BEATS_PER_LEASE = 6;

const INTERRUPTED = "interrupted because the memory was being closed; the next attempt goes on";
const DEAD = "the process that ran it ended";

/** Extends the lease of the run regularly, until it is released. */
function holdLease(db: Db, id: string, leaseSeconds: number) {
  let gone = false;
  let lastBeat = performance.now();
  const beat = async () => {
    try {
      gone = !(await extendLease(db, id, leaseSeconds));
      lastBeat = performance.now();
    } catch {
      // The database may be away for a moment; if it stays away, the lease has run out.
      gone = performance.now() - lastBeat > leaseSeconds * 1_000;
    }
  };
  const timer = setInterval(() => void beat(), (leaseSeconds * 1_000) / BEATS_PER_LEASE).unref();
  return {
    /** True when the lease was not extended in time, so that another process may have ended the run. */
    lost: () => gone,
    release: () => clearInterval(timer),
  };
}

const nextAttempt = (memory: Memory, run: WantedRun, retries: number): WantedRun => ({
  ...run,
  id: memory.ids.next(memory.clock.now()),
  attempt: run.attempt + 1,
  retries,
});

const backOffSeconds = ({ retryDelaySeconds }: RunTiming, retries: number): number =>
  retryDelaySeconds * 2 ** Math.min(15, retries) * (1 + Math.random());

const isLast = (run: WantedRun, timing: RunTiming): boolean => run.retries >= timing.retryLimit;

/** The state after a failure. A run that a person asked for is not tried again: they see the failure and repeat it by hand. */
const failedState = (run: WantedRun, timing: RunTiming): RunEnd["state"] =>
  run.slot !== null && isLast(run, timing) ? "dead_letter" : "failed";

async function tryAgain(sql: Sql, memory: Memory, run: WantedRun, timing: RunTiming): Promise<void> {
  if (run.slot === null || isLast(run, timing)) return;
  await addRun(sql, nextAttempt(memory, run, run.retries + 1), backOffSeconds(timing, run.retries));
}

/** Ends runs whose processes died: those whose lease has ended, or `all` when no other process can hold one. */
export async function endDeadRuns(memory: Memory, timing: RunTiming, all: boolean): Promise<void> {
  const { db, clock, log, butler } = memory;
  const dead = await db.tx(async (sql) => {
    const runs = await lockDeadRuns(sql, all);
    for (const run of runs) {
      const end = { state: failedState(run, timing), finished_at: clock.now(), report: null, error: DEAD };
      await finishRun(sql, run.id, end);
      await tryAgain(sql, memory, run, timing);
    }
    return runs;
  });
  for (const run of dead)
    log.warn(
      { butler, job: run.job, state: failedState(run, timing), attempt: run.attempt },
      "a run of a job was cut off",
    );
}

export interface JobResult {
  readonly job: string;
  readonly trigger: RunTrigger;
  readonly state: RunEnd["state"];
  readonly report: JobReport | undefined;
  readonly error: string | undefined;
}

export interface PerformOptions {
  readonly startedAt: Date;
  /** For an owner on fixed time: used as the time of the end too. */
  readonly now?: Date | undefined;
  interrupted(): boolean;
}

export async function perform(
  memory: Memory,
  job: Job,
  run: WantedRun,
  timing: RunTiming,
  options: PerformOptions,
): Promise<JobResult> {
  const { butler, meter } = memory;
  const started = performance.now();
  const attributes = { "butler.name": butler, job: job.name, trigger: run.trigger, attempt: run.attempt };
  return span("job", attributes, async (open) => {
    const result = await performNow(memory, job, run, timing, options);
    if (result.state === "done") open.set({ state: result.state });
    else open.fail(result.state);
    meter.observe(
      "butler_job_duration_seconds",
      { butler, job_name: job.name, state: result.state },
      secondsSince(started),
    );
    return result;
  });
}

async function performNow(
  memory: Memory,
  job: Job,
  run: WantedRun,
  timing: RunTiming,
  { startedAt, now, interrupted }: PerformOptions,
): Promise<JobResult> {
  const { db, clock, log, butler } = memory;
  const lease = holdLease(db, run.id, timing.leaseSeconds);
  await allCounted(memory);
  const { report, error } = await attempt(job, {
    memory,
    now: startedAt,
    dryRun: false,
    unhurried: run.trigger !== "manual",
    interrupted: () => lease.lost() || interrupted(),
  });
  lease.release();

  const goesOn = report !== undefined && !report.complete;
  const failed = error ?? report?.failed;
  const state = error !== undefined ? failedState(run, timing) : failed === undefined && !goesOn ? "done" : "failed";
  const told = report && run.missed > 0 ? { ...report, notes: [missedNote(run.missed), ...report.notes] } : report;
  const why = failed ?? (goesOn ? INTERRUPTED : undefined);
  const end = { state, finished_at: now ?? clock.now(), report: told ?? null, error: why ?? null } as const;
  const kept = await db.tx(async (sql) => {
    if (!(await finishRun(sql, run.id, end))) return false;
    if (error !== undefined) await tryAgain(sql, memory, run, timing);
    else if (goesOn && run.slot !== null) await addRun(sql, nextAttempt(memory, run, 0), 0);
    return true;
  });
  const fields = {
    butler,
    job: job.name,
    trigger: run.trigger,
    attempt: run.attempt,
    ...(run.slot === null ? {} : { slot: run.slot.toISOString() }),
    state,
    ...(why === undefined ? {} : { reason: why }),
  };
  if (!kept) log.warn(fields, "a job was too slow to say that it lives; another attempt has its place");
  else if (failed !== undefined) log.error(fields, state === "dead_letter" ? "a job failed for good" : "a job failed");
  else log.info({ ...fields, ...(report ? { changed: report.changed, counts: report.counts } : {}) }, "a job ran");
  return { job: job.name, trigger: run.trigger, state, report: told, error: why };
}

/**
 * Does a share of a run that another daemon holds: its shards are claimed one by one, so nothing is done twice, and nothing depends on either
 * of them. The run itself is the other's: its end is written there, that of each shard with the shard.
 */
export async function lendAHand(memory: Memory, job: Job, interrupted: () => boolean): Promise<JobReport | undefined> {
  const { butler, log, clock } = memory;
  const { report, error } = await attempt(job, {
    memory,
    now: clock.now(),
    dryRun: false,
    unhurried: true,
    interrupted,
  });
  if (report === undefined)
    log.warn({ butler, job: job.name, reason: error }, "a share of a job failed; its run goes on elsewhere");
  else if (report.changed > 0)
    log.info({ butler, job: job.name, changed: report.changed, counts: report.counts }, "a share of a job ran");
  return report;
}

async function attempt(job: Job, context: Parameters<Job["run"]>[0]): Promise<{ report?: JobReport; error?: string }> {
  try {
    return { report: await job.run(context) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

const missedNote = (missed: number) =>
  missed === 1
    ? "One scheduled run was missed; this one stands for it."
    : `${missed} scheduled runs were missed; this one stands for them.`;
