/** What a job is: something a memory does by itself, on a schedule or by hand. Idempotent: run twice, the second changes nothing. */
import type { Memory } from "../memory.ts";

export const JOB_NAMES = ["consolidate", "promote", "decay_sweep", "episode_cleanup", "reembed", "hygiene"] as const;
export type JobName = (typeof JOB_NAMES)[number];

export interface JobContext {
  readonly memory: Memory;
  readonly now: Date;
  /** Tells what would change, and changes nothing. */
  readonly dryRun: boolean;
  /** True when the house is closing: stop after the current batch; the next run goes on. */
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
  /** Why it did nothing of what it should have done. The run has failed then, and the job says itself when to try again. */
  readonly failed?: string;
}

export interface Job {
  readonly name: JobName;
  readonly about: string;
  /** When it runs if butler.toml says nothing; undefined: by hand only. */
  readonly cron: string | undefined;
  /** When the store itself asks for a run, beside the schedule; undefined when nothing in it waits. */
  dueAt?(memory: Memory, now: Date): Promise<Date | undefined>;
  run(context: JobContext): Promise<JobReport>;
}
