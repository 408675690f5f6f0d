/** Runs jobs from the queue of a store: taken once, kept alive while it works, and written down whichever way it ends. */
import { createHash } from "node:crypto";
import type { Db } from "../../adapters/db/port.ts";
import type { Lease, Queue, QueueMaker } from "../../adapters/queue/port.ts";
import { conflict, invalid, messageOf } from "../../domain/errors.ts";
import {
  endDeadRuns,
  endPredecessors,
  finishRun,
  firstEventAt,
  type JobRun,
  lastSlots,
  latestRuns,
  type RunEnd,
  type RunTrigger,
  recentRuns,
  startRun,
} from "../../store/jobs/job-runs.ts";
import type { Memory } from "../memory.ts";
import type { Job, JobReport } from "./job.ts";

/** What the schedule must know of a store. */
export interface RunsKnown {
  /** When the memory began; undefined while it is empty. */
  readonly since: Date | undefined;
  /** The latest slot of each job. */
  readonly last: Readonly<Record<string, Date>>;
  /** How long until something in the queue wants to be looked at. */
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

export interface Ran {
  readonly job: string;
  readonly trigger: RunTrigger;
  readonly state: RunEnd["state"];
  readonly report: JobReport | undefined;
  readonly error: string | undefined;
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

const INTERRUPTED = "interrupted because the house was closing; the next attempt goes on";

export function jobRunner(parts: { readonly jobs: readonly Job[]; readonly queues: QueueMaker }): JobRunner {
  const { jobs, queues } = parts;
  const names = jobs.map(({ name }) => name);
  const opened = new WeakMap<Db, Promise<Queue>>();

  function queueOf(memory: Memory): Promise<Queue> {
    const { db } = memory;
    const known = opened.get(db) ?? openQueue(memory);
    opened.set(db, known);
    known.catch(() => opened.delete(db));
    return known;
  }

  async function openQueue(memory: Memory): Promise<Queue> {
    const queue = await queues.open(memory.db, names);
    // An embedded store has one owner: whoever held a lease in it is dead.
    if (memory.db.kind === "pglite") await queue.expire(true);
    return queue;
  }

  /** The queue, after the dead were counted. */
  async function settledQueue(memory: Memory): Promise<Queue> {
    const queue = await queueOf(memory);
    await queue.expire(false);
    for (const { job, state, attempt } of await endDeadRuns(memory.db, memory.clock.now()))
      memory.log.warn({ butler: memory.butler, job, state, attempt }, "a run of a job was cut off");
    return queue;
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
      const there = opened.has(db) || (await queues.installed(db));
      const queue = there ? await settledQueue(memory) : undefined;
      const waitMs = await queue?.waitMs();
      const since = await firstEventAt(db);
      return { since, last: await lastSlots(db), waitMs, wanted: since ? await wantedJobs(memory) : {} };
    },
    async enqueue(memory, { job, slot, trigger, missed }) {
      const queue = await queueOf(memory);
      return queue.send(slotMessage(job, { slot: slot.toISOString(), trigger, missed, attempt: 1 }));
    },
    async drain(memory, interrupted) {
      const queue = await queueOf(memory);
      const ran: Ran[] = [];
      for (let progress = true; progress && !interrupted(); ) {
        progress = false;
        for (const name of await queue.ready()) {
          if (interrupted()) break;
          const lease = await queue.take(name);
          if (!lease) continue;
          progress = true;
          const done = await runLeased(memory, queue, jobCalled(name), lease, { interrupted });
          if (done) ran.push(done);
        }
      }
      if (ran.length > 0 && !interrupted()) await queue.tidy();
      return ran;
    },
    async runNow(memory, name, { dryRun, now, interrupted }) {
      const job = jobCalled(name);
      if (dryRun) {
        const report = await job.run({ memory, now: now ?? memory.clock.now(), dryRun, interrupted });
        return { job: name, trigger: "manual", state: "done", report, error: undefined };
      }
      const queue = await settledQueue(memory);
      const id = memory.ids.next(memory.clock.now());
      await queue.send({ job: name, id, data: { trigger: "manual", attempt: 1 }, retry: false, urgent: true });
      for (;;) {
        const lease = await queue.take(name);
        if (!lease) {
          await queue.cancel(name, id);
          throw conflict(`${name} is running right now; butler job history --job ${name} shows since when.`);
        }
        const mine = lease.id === id;
        const ran = await runLeased(memory, queue, job, lease, { interrupted, ...(mine ? { now } : {}) });
        if (mine && ran) return ran;
      }
    },
    history: (memory, query) => recentRuns(memory.db, query),
    latest: (memory) => latestRuns(memory.db),
  };
}

/** What stands in the queue about a run. */
interface RunData {
  readonly trigger: RunTrigger;
  readonly slot?: string;
  readonly missed?: number;
  /** The number of its first attempt: above 1 when an interrupted run goes on. */
  readonly attempt: number;
}

const slotMessage = (job: string, data: RunData) => ({ job, id: slotId(job, data), data: { ...data }, retry: true });

/** The same for everybody who wants the same run, so that the queue takes it once. */
function slotId(job: string, { slot, attempt }: RunData): string {
  const hex = createHash("sha256").update(`${job}@${slot}#${attempt}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

async function runLeased(
  memory: Memory,
  queue: Queue,
  job: Job,
  lease: Lease,
  options: { interrupted(): boolean; now?: Date | undefined },
): Promise<Ran | undefined> {
  const { db, clock, log, butler } = memory;
  const data = lease.data as Readonly<Record<string, unknown>> & RunData;
  const { trigger, slot, missed = 0 } = data;
  const started = options.now ?? clock.now();
  const run = {
    id: memory.ids.next(started),
    job: job.name,
    trigger,
    slot: slot === undefined ? null : new Date(slot),
    attempt: data.attempt + lease.retries,
    started_at: started,
  };
  const begun = await db.tx(async (sql) => {
    await endPredecessors(sql, job.name, started);
    return startRun(sql, run);
  });
  if (!begun) {
    // Its slot was run when the queue had forgotten that it knew it.
    await queue.complete(lease);
    return undefined;
  }
  const hold = queue.hold(lease);
  const outcome = await attempt(job, {
    memory,
    now: started,
    dryRun: false,
    interrupted: () => hold.lost() || options.interrupted(),
  });
  hold.release();

  const { report, error } = outcome;
  const goesOn = report !== undefined && !report.complete;
  const failed = error ?? report?.failed;
  const state =
    failed === undefined && !goesOn ? "done" : error !== undefined && lease.last && slot ? "dead_letter" : "failed";
  const told = report && missed > 0 ? { ...report, notes: [missedNote(missed), ...report.notes] } : report;
  const why = failed ?? (goesOn ? INTERRUPTED : undefined);
  const finished_at = options.now ?? clock.now();
  const kept = await db.tx(async (sql) => {
    if (!(await finishRun(sql, run.id, { state, finished_at, report: told ?? null, error: why ?? null }))) return false;
    if (error !== undefined) await queue.fail(lease, error, sql);
    else await queue.complete(lease, sql);
    if (goesOn && slot) await queue.send(slotMessage(job.name, { ...data, attempt: run.attempt + 1 }), sql);
    return true;
  });
  const fields = {
    butler,
    job: job.name,
    trigger,
    attempt: run.attempt,
    ...(slot === undefined ? {} : { slot }),
    state,
    ...(why === undefined ? {} : { reason: why }),
  };
  if (!kept) log.warn(fields, "a job was too slow to say that it lives; another attempt has its place");
  else if (failed !== undefined) log.error(fields, state === "dead_letter" ? "a job failed for good" : "a job failed");
  else log.info({ ...fields, ...(report ? { changed: report.changed, counts: report.counts } : {}) }, "a job ran");
  return { job: job.name, trigger, state, report: told, error: why };
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
