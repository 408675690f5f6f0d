/** Runs the jobs of a memory: each run is taken once, holds a lease while it works, and its end is written down. */
import { conflict, invalid } from "../../domain/errors.ts";
import {
  addRun,
  dueJobs,
  firstEventAt,
  type JobRun,
  lastSlots,
  latestRuns,
  msUntilDue,
  type RunTrigger,
  recentRuns,
  runElsewhere,
  startRun,
  takeRun,
  type WantedRun,
  waitingJobs,
} from "../../store/jobs/job-runs.ts";
import type { Memory } from "../memory.ts";
import { wholeMemory } from "../tenancy.ts";
import type { Job } from "./job.ts";
import {
  endDeadRuns,
  type JobResult,
  lendAHand,
  type PerformOptions,
  perform,
  type RunTiming,
  TIMING,
} from "./perform-run.ts";

/** What the scheduler must know of a store. */
export interface RunsKnown {
  /** When the memory began; undefined while it is empty. */
  readonly since: Date | undefined;
  /** The latest slot of each job. */
  readonly last: Readonly<Record<string, Date>>;
  /** How long until a waiting run is due or a lease ends. */
  readonly waitMs: number | undefined;
  /** Jobs that the state of the store needs, and from when on (`dueAt`). */
  readonly wanted?: Readonly<Record<string, Date>>;
}

export interface Slot {
  readonly job: string;
  readonly slot: Date;
  readonly trigger: Exclude<RunTrigger, "manual">;
  /** Slots before this one that nobody ran. */
  readonly missed: number;
}

/** The runs of one memory's jobs, for the scheduler. */
export interface JobRuns {
  look(): Promise<RunsKnown>;
  /** False when another process has asked for the same run. */
  enqueue(slot: Slot): Promise<boolean>;
  /** Runs what waits, one after the other, until nothing does or `interrupted`. */
  drain(interrupted: () => boolean): Promise<JobResult[]>;
  history(query: { job: string | undefined; limit: number }): Promise<JobRun[]>;
  /** The latest run of each job. */
  latest(): Promise<JobRun[]>;
}

export interface JobRunner extends JobRuns {
  /** Runs a job for a person. `conflict` when it is under way already. */
  runNow(name: string, options: RunNow): Promise<JobResult>;
}

export interface RunNow {
  readonly dryRun: boolean;
  /** For an owner on fixed time; the store's clock otherwise. */
  readonly now?: Date | undefined;
  interrupted(): boolean;
}

interface Runner {
  readonly memory: Memory;
  readonly jobs: readonly Job[];
  readonly names: readonly string[];
  readonly timing: RunTiming;
  /** Runs that this process has under way. */
  readonly own: Set<string>;
  /** Set once the runs that a dead owner left have been ended, or are being ended. */
  cleared: Promise<void> | undefined;
}

export function jobRunner(given: Memory, jobs: readonly Job[], timing: Partial<RunTiming> = {}): JobRunner {
  const memory = wholeMemory(given, "job runs");
  const names = jobs.map(({ name }) => name);
  const { lease_seconds: leaseSeconds } = memory.settings.jobs;
  const chosen = { ...TIMING, leaseSeconds, ...timing };
  const runner: Runner = { memory, jobs, names, timing: chosen, own: new Set(), cleared: undefined };
  return {
    look: () => look(runner),
    enqueue: (slot) => enqueue(runner, slot),
    drain: (interrupted) => drain(runner, interrupted),
    runNow: (name, options) => runNow(runner, name, options),
    history: (query) => recentRuns(memory.db, query),
    latest: () => latestRuns(memory.db),
  };
}

/** Ends runs that a dead owner left. An embedded store has one owner, so every run that is under way when it is opened is dead. */
function clearOnce(runner: Runner): Promise<void> {
  const { memory, timing } = runner;
  const clearing =
    runner.cleared ?? (memory.db.kind === "pglite" ? endDeadRuns(memory, timing, true) : Promise.resolve());
  runner.cleared = clearing;
  clearing.catch(() => {
    runner.cleared = undefined;
  });
  return clearing;
}

async function endExpiredLeases(runner: Runner): Promise<void> {
  await clearOnce(runner);
  await endDeadRuns(runner.memory, runner.timing, false);
}

async function look(runner: Runner): Promise<RunsKnown> {
  const { db } = runner.memory;
  await endExpiredLeases(runner);
  const waitMs = await msUntilDue(db, runner.names);
  const since = await firstEventAt(db);
  return { since, last: await lastSlots(db), waitMs, wanted: since ? await wantedJobs(runner) : {} };
}

/** A run that waits does what is wanted: while one of the job was under way elsewhere, or by hand, each look would ask for another. */
async function wantedJobs({ memory, jobs }: Runner): Promise<Record<string, Date>> {
  const wanted: Record<string, Date> = {};
  const waiting = await waitingJobs(memory.db);
  for (const { name, dueAt } of jobs) {
    if (waiting.has(name)) continue;
    const at = await dueAt?.(memory, memory.clock.now());
    if (at !== undefined) wanted[name] = at;
  }
  return wanted;
}

async function enqueue(runner: Runner, slot: Slot): Promise<boolean> {
  const { db, ids, clock } = runner.memory;
  await clearOnce(runner);
  return addRun(db, { id: ids.next(clock.now()), ...slot, attempt: 1, retries: 0 }, 0);
}

async function drain(runner: Runner, interrupted: () => boolean): Promise<JobResult[]> {
  const { memory, names, timing } = runner;
  const { leaseSeconds } = timing;
  await clearOnce(runner);
  const ran: JobResult[] = [];
  for (let progress = true; progress && !interrupted(); ) {
    progress = false;
    for (const name of await dueJobs(memory.db, names)) {
      if (interrupted()) break;
      const startedAt = memory.clock.now();
      const run = await takeRun(memory.db, name, { startedAt, leaseSeconds });
      if (!run) continue;
      progress = true;
      ran.push(await performOwn(runner, findJob(runner, name), run, { startedAt, interrupted }));
    }
  }
  return [...ran, ...(await shareOthers(runner, interrupted))];
}

async function performOwn(runner: Runner, job: Job, run: WantedRun, options: PerformOptions): Promise<JobResult> {
  runner.own.add(run.id);
  try {
    return await perform(runner.memory, job, run, runner.timing, options);
  } finally {
    runner.own.delete(run.id);
  }
}

/** What other daemons of the server run in shards is done together. An embedded store has one owner. */
async function shareOthers(runner: Runner, interrupted: () => boolean): Promise<JobResult[]> {
  const { memory, own } = runner;
  const shared = runner.jobs.filter((job) => job.shared);
  if (memory.db.kind === "pglite" || shared.length === 0 || interrupted()) return [];
  const names = shared.map(({ name }) => name);
  const done: JobResult[] = [];
  for (const name of await runElsewhere(memory.db, names, [...own])) {
    const report = await lendAHand(memory, findJob(runner, name), interrupted);
    if (report && report.changed > 0)
      done.push({ job: name, trigger: "schedule", state: "done", report, error: undefined });
  }
  return done;
}

async function runNow(runner: Runner, name: string, { dryRun, now, interrupted }: RunNow): Promise<JobResult> {
  const { memory, timing } = runner;
  const { leaseSeconds } = timing;
  const job = findJob(runner, name);
  const startedAt = now ?? memory.clock.now();
  if (dryRun) {
    const report = await job.run({ memory, now: startedAt, dryRun, interrupted });
    return { job: name, trigger: "manual", state: "done", report, error: undefined };
  }
  await endExpiredLeases(runner);
  const id = memory.ids.next(startedAt);
  const run = { id, job: name, trigger: "manual", slot: null, attempt: 1, retries: 0, missed: 0 } as const;
  if (!(await startRun(memory.db, run, { startedAt, leaseSeconds })))
    throw conflict(`${name} is running right now; butler job history --job ${name} shows since when.`);
  return performOwn(runner, job, run, { startedAt, now, interrupted });
}

function findJob({ jobs, names }: Runner, name: string): Job {
  const job = jobs.find((known) => known.name === name);
  if (job) return job;
  throw invalid("job", `There is no job "${name}"; there is ${names.join(", ")}.`);
}
