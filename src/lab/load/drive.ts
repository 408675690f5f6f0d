/** Makes each call when it is due, whether earlier ones have been answered or not, and counts its time from when it was due. */
import { pause } from "../../daemon/pause.ts";
import type { Arrival } from "./schedule.ts";

export interface Answered extends Arrival {
  /** From the moment at which the call was due until its answer, also where this process came late to make it. */
  readonly ms: number;
  /** How late this process was: large where the machine, not the owner, was the bottleneck. */
  readonly late: number;
  /** Undefined: it was answered. */
  readonly error: string | undefined;
}

export interface Driven {
  readonly answers: readonly Answered[];
  /** Calls under way at once, at most. */
  readonly most_open: number;
  /** Milliseconds from when the last call was due until all were answered. */
  readonly drained_ms: number;
}

/** Makes the call, and resolves with the code of its error or undefined. */
export type MakeCall = (arrival: Arrival, number: number) => Promise<string | undefined>;

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
    const one = call(arrival, number).then((error) => {
      answers.push({ ...arrival, ms: performance.now() - started - from, late, error });
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
