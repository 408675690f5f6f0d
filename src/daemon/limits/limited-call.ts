/** One call within its limits: it waits for its turn among the tenants, and is stopped when it takes too long. */
import type { Following } from "../../engine/memory/following.ts";
import type { Failure, Outcome } from "../../engine/tools/outcome.ts";
import type { LimitSettings } from "../config/daemon-schema.ts";
import { type FairQueue, fairQueue, type Turn } from "./fair-queue.ts";

export interface LimitedCall {
  readonly tenant: string;
  readonly tool: string;
  /** Of a caller with a token. What this machine itself asks waits as long as it takes. */
  readonly bounded: boolean;
  readonly following: Following | undefined;
}

type Work = (following: Following | undefined) => Promise<Outcome>;

export interface CallLimits {
  run(call: LimitedCall, work: Work): Promise<Outcome>;
}

/** Tools that take many rows, or a whole store's worth of reading. */
const LONG = new Set(["memory_ingest_batch", "memory_context_batch", "memory_consolidate"]);

export function callLimits(settings: LimitSettings, nowMs: () => number = () => performance.now()): CallLimits {
  const { calls_at_once: alone, shared_calls_at_once: shared, calls_waiting: waiting } = settings;
  const queue = fairQueue({ alone, shared, waiting }, nowMs);
  const limitMs = settings.timeout_seconds * 1_000;
  return {
    async run({ tenant, tool, bounded, following }, work) {
      const turn = { tenant, long: LONG.has(tool), patient: !bounded };
      if (bounded) return inTime(queue, turn, following, work, limitMs);
      return (await queue.run(turn, () => work(following))) ?? refused(BUSY);
    },
  };
}

/** Waiting counts too. Work that does not stop at once keeps its place in the queue until it ends. */
async function inTime(
  queue: FairQueue,
  turn: Turn,
  following: Following | undefined,
  work: Work,
  limitMs: number,
): Promise<Outcome> {
  const over = new AbortController();
  const signal = following?.signal ? AbortSignal.any([following.signal, over.signal]) : over.signal;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Outcome>((done) => {
    timer = setTimeout(() => {
      over.abort();
      done(refused(tooLong(limitMs)));
    }, limitMs);
  });
  // Nobody waits for the answer any more when the turn comes: it is not begun.
  const answer = queue.run(turn, async () =>
    signal.aborted ? refused(tooLong(limitMs)) : work({ ...following, signal }),
  );
  try {
    return (await Promise.race([answer, late])) ?? refused(BUSY);
  } finally {
    clearTimeout(timer);
  }
}

const refused = (error: Failure): Outcome => ({ ok: false, error });

const BUSY: Failure = {
  code: "unavailable",
  message: "Too many calls of this tenant are waiting already; try again in 2 seconds.",
  field: "busy",
  retry_after: 2,
};

const tooLong = (limitMs: number): Failure => ({
  code: "unavailable",
  message: `The call took longer than ${limitMs / 1_000} seconds and was stopped; ask for less at a time, or try again later.`,
  field: "timeout",
  retry_after: 10,
});
