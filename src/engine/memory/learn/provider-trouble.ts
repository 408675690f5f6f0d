/**
 * Trouble of a provider: it is down, busy, slow or not set up. It costs no episode an attempt, and every run that would ask the
 * same provider waits.
 */
import type { Sql } from "../../adapters/db/port.ts";
import type { FailureKind } from "../../adapters/extractor/port.ts";
import { backOffMs } from "../../domain/lifecycle/back-off.ts";
import { latestEnds, type RunEnded, type Shard, shardEnds } from "../../store/jobs/consolidation.ts";

const TROUBLE: ReadonlySet<string> = new Set<FailureKind>(["timeout", "rate_limited", "unavailable", "misconfigured"]);
export const isTrouble = (kind: string | null): boolean => kind !== null && TROUBLE.has(kind);

export interface Trouble {
  readonly kind: string;
  readonly reason: string;
  /** Runs in a row that ended so. */
  readonly runs: number;
  /** Not asked again before this time. */
  readonly until: Date;
}

/** The longest wait before the provider is tried again. */
const LONGEST_MS = 3_600_000;
const LOOK_BACK = 8;

export const troubleWaitMs = (runs: number): number => backOffMs(runs, LONGEST_MS);

/** Undefined when the last run that asked this provider got an answer, even a wrong one. */
export async function troubleWith(sql: Sql, provider: string): Promise<Trouble | undefined> {
  const ends = await latestEnds(sql, provider, LOOK_BACK);
  const answered = ends.findIndex(({ failure }) => !isTrouble(failure));
  const runs = answered < 0 ? ends.length : answered;
  const [last] = ends;
  if (last === undefined || runs === 0) return undefined;
  return {
    kind: last.failure ?? "",
    reason: last.error ?? "no reason was given",
    runs,
    until: new Date(last.finished_at.getTime() + troubleWaitMs(runs)),
  };
}

const DAY_MS = 86_400_000;

/**
 * How many episodes the next batch may hold. After a timeout it is a quarter of the last one, and it grows again with each
 * answer: without that, a batch too large for its provider would time out for ever. No limit when nothing timed out lately.
 */
export async function sizeAllowed(sql: Sql, shard: Shard, provider: string, now: Date): Promise<number> {
  const ends = await shardEnds(sql, shard, provider, new Date(now.getTime() - DAY_MS), LOOK_BACK);
  const [last] = ends;
  if (last === undefined || !ends.some(({ failure }) => failure === "timeout")) return Infinity;
  return Math.max(1, Math.floor(last.size * growth(last)));
}

function growth({ state, failure }: RunEnded): number {
  if (state === "done") return 4;
  return failure === "timeout" ? 1 / 4 : 1;
}
