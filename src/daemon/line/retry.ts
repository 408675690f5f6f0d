import { pause } from "../pause.ts";

export interface RetryOptions {
  /** On the clock of `performance.now()`. */
  readonly until: number;
  /** The pause after the first attempt; 0 makes the second one at once. Each further pause is twice as long as the one before. */
  readonly firstMs?: number;
  readonly mostMs?: number;
  giveUp(): Error;
}

const SECOND_MS = 10;

/**
 * Repeats `attempt` until it gives something; what it throws ends the loop. Pauses differ by a quarter, so that callers who began
 * together do not come together again. Gives up at `until` and not before: callers look at the clock to see whether time was over.
 */
export async function retry<T>(options: RetryOptions, attempt: () => Promise<T | undefined>): Promise<T> {
  const { until, firstMs = SECOND_MS, mostMs = 250 } = options;
  for (let wait = firstMs; ; wait = Math.min(Math.max(wait * 2, SECOND_MS), mostMs)) {
    const got = await attempt();
    if (got !== undefined) return got;
    const apart = wait * (0.75 + Math.random() / 2);
    // A timer may fire up to a millisecond early.
    const rest = Math.min(apart, Math.ceil(until - performance.now()) + 1);
    if (rest > 0) await pause(rest);
    if (performance.now() >= until) throw options.giveUp();
  }
}
