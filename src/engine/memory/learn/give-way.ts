/**
 * Learning takes turns with those who wait for an answer: while calls come in, a batch is followed by a pause of nine times its length, so that
 * it has a tenth of the time at most. Where many calls come, learning has a fiftieth: beside 90 calls a second, where it had half of the time, it
 * was a third of the embedded store's work and an eighth of the texts of the model. The longer episodes have waited the shorter is the pause, down to
 * half of the time: under a load that does not end learning takes as much as it needs to keep up, and no more. It catches up when the calls stop.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Memory } from "../memory.ts";

/** How many times as long as the batch the pause is. */
const PAUSE = 9;
const BUSY_PAUSE = 49;
const LONGEST_MS = 5_000;
const LONGEST_BUSY_MS = 60_000;
/** Calls a second from which on learning waits longer. */
const BUSY = 20;
/** So long without a call, and the next batch may begin. */
const QUIET_MS = 250;
const STEP_MS = 50;
/** What has waited for less can wait longer. */
const PATIENT_MS = 12 * 60_000;
/** A tenth of the six hours that an episode may wait, less some time to catch up: a pause is then as long as its batch. */
const OVERDUE_MS = 32 * 60_000;

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
  const isBusy = oldest !== undefined && perSecond >= BUSY;
  const times = (isBusy ? BUSY_PAUSE : PAUSE) ** (1 - latenessOf(clock.now(), oldest));
  let left = Math.min(isBusy ? LONGEST_BUSY_MS : LONGEST_MS, times * tookMs);
  let seen = traffic.calls;
  let quiet = 0;
  while (left > 0 && quiet < QUIET_MS && !interrupted()) {
    await wait(STEP_MS);
    left -= STEP_MS;
    quiet = traffic.calls === seen ? quiet + STEP_MS : 0;
    seen = traffic.calls;
  }
}

/** From 0, there is time, to 1. */
function latenessOf(now: Date, oldest: Date | undefined): number {
  if (oldest === undefined) return 0;
  const late = (now.getTime() - oldest.getTime() - PATIENT_MS) / (OVERDUE_MS - PATIENT_MS);
  return Math.min(1, Math.max(0, late));
}
