/** Makes each call when it is due, whether earlier ones have been answered or not, and counts its time from when it was due. */
import { pause } from "../../daemon/pause.ts";
import type { Outcome } from "../../engine/tools/outcome.ts";
import type { Arrival, LoadKind } from "./schedule.ts";

/** How a call ended. */
export interface Ended {
  /** The code of its error, also where the caller gave it up; undefined: it was answered. */
  readonly error: string | undefined;
  /** The answer itself says that it is less than it could be, as a context does that was found by keywords alone. */
  readonly degraded?: boolean;
  /** The id of the episode that the answer acknowledges. */
  readonly acknowledged?: string;
}

export interface Answered extends Arrival, Ended {
  /** From the moment at which the call was due until its answer, also where this process came late to make it. */
  readonly ms: number;
  /** How late this process was: large where the machine, not the owner, was the bottleneck. */
  readonly late: number;
}

export interface Driven {
  readonly answers: readonly Answered[];
  /** Calls under way at once, at most. */
  readonly most_open: number;
  /** Milliseconds from when the last call was due until all were answered. */
  readonly drained_ms: number;
}

/** Makes the call; what goes wrong is an end of it too. */
export type MakeCall = (arrival: Arrival, number: number) => Promise<Ended>;

export function endOf(kind: LoadKind, outcome: Outcome): Ended {
  if (!outcome.ok) return { error: outcome.error.code };
  const { degraded, id } = outcome.answer;
  if (kind === "context") return { error: undefined, degraded: degraded !== undefined };
  return { error: undefined, ...(typeof id === "string" ? { acknowledged: id } : {}) };
}

export async function drive(
  arrivals: readonly Arrival[],
  call: MakeCall,
  progress: (seconds: number) => void,
): Promise<Driven> {
  const answers: Answered[] = [];
  const open = new Set<Promise<void>>();
  let most = 0;
  let told = -1;
  const started = performance.now();
  for (const [number, arrival] of arrivals.entries()) {
    const early = arrival.at - (performance.now() - started);
    if (early >= 1) await pause(early);
    const made = performance.now() - started;
    const late = Math.max(0, made - arrival.at);
    // One that is made less than a millisecond early counts from then.
    const from = Math.min(made, arrival.at);
    const one = call(arrival, number).then((end) => {
      answers.push({ ...arrival, ms: performance.now() - started - from, late, ...end });
      open.delete(one);
    });
    open.add(one);
    most = Math.max(most, open.size);
    const second = Math.floor(arrival.at / 1_000);
    if (second !== told) progress(second);
    told = second;
  }
  await Promise.all(open);
  const drained_ms = performance.now() - started - (arrivals.at(-1)?.at ?? 0);
  return { answers, most_open: most, drained_ms };
}
