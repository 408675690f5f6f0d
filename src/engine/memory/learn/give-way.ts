/**
 * Learning takes turns with those who wait for an answer: while calls come in, a batch is followed by a pause of nine times its length, so that
 * it has a tenth of the time at most; half of it where episodes have waited for long. Where many calls come, learning has a fiftieth: beside 90 calls a
 * second, where it had half of the time, it was a third of the embedded store's work and an eighth of the texts of the model. It catches up when the calls stop.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Memory } from "../memory.ts";

/** How many times as long as the batch the pause is. */
const PAUSE = 9;
const OVERDUE_PAUSE = 1;
const BUSY_PAUSE = 49;
const LONGEST_MS = 5_000;
const LONGEST_BUSY_MS = 60_000;
/** Calls a second from which on learning waits longer. */
const BUSY = 20;
/** So long without a call, and the next batch may begin. */
const QUIET_MS = 250;
const STEP_MS = 50;
/** A tenth of the six hours that an episode may wait, less some time to catch up. */
const OVERDUE_MS = 20 * 60_000;

export interface Batch {
  /** The number of calls when it began. */
  readonly calls: number;
  readonly tookMs: number;
  /** When the oldest of its episodes was stored; undefined for work that learns nothing. */
  readonly oldest: Date | undefined;
}

export async function giveWay(
  { traffic, clock }: Pick<Memory, "clock"> & { readonly traffic: Pick<Memory["traffic"], "calls"> },
  { calls, tookMs, oldest }: Batch,
  interrupted: () => boolean,
  wait: (ms: number) => Promise<unknown> = pause,
): Promise<void> {
  if (traffic.calls === calls) return;
  const perSecond = ((traffic.calls - calls) * 1_000) / tookMs;
  let left =
    oldest !== undefined && perSecond >= BUSY && !isOverdue(clock.now(), oldest)
      ? Math.min(LONGEST_BUSY_MS, BUSY_PAUSE * tookMs)
      : Math.min(LONGEST_MS, (isOverdue(clock.now(), oldest) ? OVERDUE_PAUSE : PAUSE) * tookMs);
  let seen = traffic.calls;
  let quiet = 0;
  while (left > 0 && quiet < QUIET_MS && !interrupted()) {
    await wait(STEP_MS);
    left -= STEP_MS;
    quiet = traffic.calls === seen ? quiet + STEP_MS : 0;
    seen = traffic.calls;
  }
}

const isOverdue = (now: Date, oldest: Date | undefined): boolean =>
  oldest !== undefined && now.getTime() - oldest.getTime() > OVERDUE_MS;
