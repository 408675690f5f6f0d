/** Runs the jobs of a store: each run taken once, kept alive while it works, and written down whichever way it ends. */
import type { Db } from "../../adapters/db/port.ts";
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
  startRun,
  takeRun,
} from "../../store/jobs/job-runs.ts";
import type { Memory } from "../memory.ts";
import type { Job } from "./job.ts";
import { endDeadRuns, perform, type Ran, type RunTiming, TIMING } from "./perform-run.ts";

/** What the schedule must know of a store. */
export interface RunsKnown {
  /** When the memory began; undefined while it is empty. */
  readonly since: Date | undefined;
  /** The latest slot of each job. */
  readonly last: Readonly<Record<string, Date>>;
  /** How long until a run is to be looked at: one that waits, or one whose lease ends. */
  readonly waitMs: number | undefined;
  /** Jobs that the store itself asks for, and from when on. */
  readonly wanted?: Readonly<Record<string, Date>>;
}

export interface Slot {
  readonly job: string;
  readonly slot: Date;
  readonly trigger: Exclude<RunTrigger, "manual">;
  /** Slots before this one that nobody ran. */
  readonly missed: number;
}

export interface JobRunner<M = Memory> {
  readonly jobs: readonly Job[];
  look(memory: M): Promise<RunsKnown>;
  /** False when another process has asked for the same run. */
  enqueue(memory: M, slot: Slot): Promise<boolean>;
  /** Runs what waits, one after the other, until nothing does or `interrupted`. */
  drain(memory: M, interrupted: () => boolean): Promise<Ran[]>;
  /** Runs a job for a person. `conflict` when it is under way already. */
  runNow(memory: M, name: string, options: RunNow): Promise<Ran>;
  history(memory: M, query: { job: string | undefined; limit: number }): Promise<JobRun[]>;
  latest(memory: M): Promise<JobRun[]>;
}

export interface RunNow {
  readonly dryRun: boolean;
  /** For an owner on fixed time; the store's clock otherwise. */
  readonly now?: Date | undefined;
  interrupted(): boolean;
}

export function jobRunner(parts: {
  readonly jobs: readonly Job[];
  readonly timing?: Partial<RunTiming> | undefined;
}): JobRunner {
  const { jobs } = parts;
  const names = jobs.map(({ name }) => name);
  const timing = { ...TIMING, ...parts.timing };
  const opened = new WeakMap<Db, Promise<void>>();

  /** Once for each store. An embedded one has one owner: whoever was running a job in it is dead. */
  function open(memory: Memory): Promise<void> {
    const { db } = memory;
    const known = opened.get(db) ?? (db.kind === "pglite" ? endDeadRuns(memory, timing, true) : Promise.resolve());
    opened.set(db, known);
    known.catch(() => opened.delete(db));
    return known;
  }

  async function settle(memory: Memory): Promise<void> {
    await open(memory);
    await endDeadRuns(memory, timing, false);
  }

  async function wantedJobs(memory: Memory): Promise<Record<string, Date>> {
    const wanted: Record<string, Date> = {};
    for (const { name, dueAt } of jobs) {
      const at = await dueAt?.(memory, memory.clock.now());
      if (at !== undefined) wanted[name] = at;
    }
    return wanted;
  }

  function jobCalled(name: string): Job {
    const job = jobs.find((known) => known.name === name);
    if (job) return job;
    throw invalid("job", `There is no job "${name}"; there is ${names.join(", ")}.`);
  }

  return {
    jobs,
    async look(memory) {
      const { db } = memory;
      await settle(memory);
      const waitMs = await msUntilDue(db, names);
      const since = await firstEventAt(db);
      return { since, last: await lastSlots(db), waitMs, wanted: since ? await wantedJobs(memory) : {} };
    },
    async enqueue(memory, slot) {
      await open(memory);
      const id = memory.ids.next(memory.clock.now());
      return addRun(memory.db, { id, ...slot, attempt: 1, retries: 0 }, 0);
    },
    async drain(memory, interrupted) {
      await open(memory);
      const ran: Ran[] = [];
      for (let progress = true; progress && !interrupted(); ) {
        progress = false;
        for (const name of await dueJobs(memory.db, names)) {
          if (interrupted()) break;
          const startedAt = memory.clock.now();
          const run = await takeRun(memory.db, name, { startedAt, leaseSeconds: timing.leaseSeconds });
          if (!run) continue;
          progress = true;
          ran.push(await perform(memory, jobCalled(name), run, timing, { startedAt, interrupted }));
        }
      }
      return ran;
    },
    async runNow(memory, name, { dryRun, now, interrupted }) {
      const job = jobCalled(name);
      const startedAt = now ?? memory.clock.now();
      if (dryRun) {
        const report = await job.run({ memory, now: startedAt, dryRun, interrupted });
        return { job: name, trigger: "manual", state: "done", report, error: undefined };
      }
      await settle(memory);
      const id = memory.ids.next(startedAt);
      const run = { id, job: name, trigger: "manual", slot: null, attempt: 1, retries: 0, missed: 0 } as const;
      if (!(await startRun(memory.db, run, { startedAt, leaseSeconds: timing.leaseSeconds })))
        throw conflict(`${name} is running right now; butler job history --job ${name} shows since when.`);
      return perform(memory, job, run, timing, { startedAt, now, interrupted });
    },
    history: (memory, query) => recentRuns(memory.db, query),
    latest: (memory) => latestRuns(memory.db),
  };
}
