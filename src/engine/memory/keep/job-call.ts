/** What jobs share: the call they act with, their report, and folding after deletions. */

import { foldShelf } from "../../store/index/fold.ts";
import type { Call, Memory } from "../memory.ts";
import { memoryOf } from "../tenancy.ts";
import type { JobContext, JobName, JobReport } from "./job.ts";

/** A job acts in its own name for one tenant. Its own trust is the lowest; what it stores names the trust of its source. */
export function jobCall(
  context: JobContext,
  job: JobName,
  tenant: string,
  butler: string = context.memory.butler,
): Call {
  return {
    memory: memoryOf(context.memory, tenant),
    caller: { tenant, butler, admin: false, actor: `job:${job}`, voice: "tool", session: undefined },
    now: context.now,
    request: undefined,
    idempotencyKey: undefined,
  };
}

/** Counts and notes of a running job. */
export interface JobTally {
  count(kind: string, by?: number): void;
  /** Counts something that changed nothing. */
  remark(kind: string, by?: number): void;
  /** A few are kept; the audit stream has them all. */
  note(words: string): void;
  /** A note of something that kept the job from its work. */
  problem(words: string): void;
  /** The last problem that was noted. */
  lastProblem(): string | undefined;
  report(complete: boolean, failed?: string): JobReport;
}

const NOTES = 10;

export function newTally(): JobTally {
  const counts: Record<string, number> = {};
  const notes: string[] = [];
  let changed = 0;
  let last: string | undefined;
  const remark = (kind: string, by = 1) => {
    if (by > 0) counts[kind] = (counts[kind] ?? 0) + by;
  };
  const note = (words: string) => {
    if (notes.length < NOTES) notes.push(words);
  };
  return {
    remark,
    count(kind, by = 1) {
      changed += Math.max(0, by);
      remark(kind, by);
    },
    note,
    problem(words) {
      last = words;
      note(words);
    },
    lastProblem: () => last,
    report(complete, failed) {
      return { changed, counts, notes, complete, ...(failed === undefined ? {} : { failed }) };
    },
  };
}

/**
 * Every search reads the removals that are not folded yet, so they are folded while thousands of memories are deleted. Large
 * steps are cheaper by far, but keep the embedded store's one connection busy; maintenance folds what is left.
 */
const FOLD = { pglite: { at: 256, step: 32 }, postgres: { at: 2048, step: 1024 } } as const;

export interface DropFolder {
  dropped(shelves: readonly { readonly sk: number; readonly n: number }[]): Promise<void>;
}

export function dropFolder({ db }: Memory): DropFolder {
  const { at, step } = FOLD[db.kind];
  const waiting = new Map<number, number>();
  return {
    async dropped(shelves) {
      for (const { sk, n } of shelves) {
        let left = (waiting.get(sk) ?? 0) + n;
        if (left >= at) for (; left > 0; left -= step) await foldShelf(db, sk, step);
        waiting.set(sk, Math.max(0, left));
      }
    },
  };
}
