/** A job: work on a memory that runs on a schedule or by hand. Idempotent: a second run right after the first changes nothing. */
import type { Memory } from "../memory.ts";
import { wholeMemory } from "../tenancy.ts";

export const JOB_NAMES = [
  "consolidate",
  "promote",
  "decay_sweep",
  "episode_cleanup",
  "reembed",
  "hygiene",
  "retention",
  "rekey",
  "partitions",
] as const;
export type JobName = (typeof JOB_NAMES)[number];

export interface JobContext {
  readonly memory: Memory;
  readonly now: Date;
  /** Reports what would change, and changes nothing. */
  readonly dryRun: boolean;
  /** Nobody waits for its end: it may take its time while others wait for answers. */
  readonly unhurried?: boolean;
  /** True when the owner is stopping: the job ends after the current batch, and the next run goes on. */
  interrupted(): boolean;
}

export interface JobReport {
  /** How many memories it changed (or would change). */
  readonly changed: number;
  /** By kind, such as `faded`, `expired`, `deleted`. */
  readonly counts: Readonly<Record<string, number>>;
  /** Words for people about single findings; a few, not all. */
  readonly notes: readonly string[];
  /** False when it was interrupted. */
  readonly complete: boolean;
  /** Why it could do nothing of its work: the run has failed. The job itself decides when to try again (`dueAt`). */
  readonly failed?: string;
}

export interface Job {
  readonly name: JobName;
  readonly about: string;
  /** When it runs if butler.toml does not say; undefined: by hand only. */
  readonly cron: string | undefined;
  /**
   * Its work lies in shards, each of which is claimed under a lease of its own: daemons that find a run under way elsewhere take shards too
   * instead of waiting for it.
   */
  readonly shared?: true;
  /** When the state of the store needs a run before its next scheduled time; undefined when it does not. */
  dueAt?(memory: Memory, now: Date): Promise<Date | undefined>;
  run(context: JobContext): Promise<JobReport>;
}

/** A job reads and changes rows of all tenants, as the owner and under its own name, whoever starts it. */
export function defineJob({ run, dueAt, ...rest }: Job): Job {
  const whole = (memory: Memory) => wholeMemory(memory, rest.name);
  return {
    ...rest,
    run: (context) => run({ ...context, memory: whole(context.memory) }),
    ...(dueAt && { dueAt: (memory, now) => dueAt(whole(memory), now) }),
  };
}
