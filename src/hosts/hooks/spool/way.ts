/** Lets work that nobody waits for give way to answers that somebody waits for. */
import { pause } from "../../../daemon/pause.ts";

export interface Way {
  /** Somebody waits for an answer, or has just had it. */
  heard(): void;
  /** Resolves when nobody has waited for an answer for a moment, or when it has been long enough. */
  clear(): Promise<void>;
}

/** What an answer leaves to be done is done by then. */
export const GIVE_WAY_MS = 300;
/** However many answers are wanted, the other work does not wait longer than this. */
export const LONGEST_MS = 5_000;

export function openWay(signal: AbortSignal, now: () => number = () => performance.now(), rest = pause): Way {
  let heardAt = Number.NEGATIVE_INFINITY;
  return {
    heard() {
      heardAt = now();
    },
    async clear() {
      const since = now();
      while (!signal.aborted) {
        const left = Math.min(heardAt + GIVE_WAY_MS, since + LONGEST_MS) - now();
        if (left <= 0) return;
        // In parts: an owner that leaves is not held up.
        await rest(Math.min(left, GIVE_WAY_MS / 3));
      }
    },
  };
}
