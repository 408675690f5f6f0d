/** Ends a run that learned nothing: its episodes are tried again later, given up, or released unchanged. */

import { ExtractorFailure, type FailureKind, NO_USAGE, type Usage } from "../../adapters/extractor/port.ts";
import { messageOf } from "../../domain/errors.ts";
import type { NewEvent } from "../../domain/event.ts";
import { backOffMs } from "../../domain/lifecycle/back-off.ts";
import { clip } from "../../domain/text/text.ts";
import { appendEvents } from "../../store/history/events.ts";
import { endRun, type Run, type RunEnd } from "../../store/jobs/consolidation.ts";
import type { Call } from "../memory.ts";
import { asOwner } from "../tenancy.ts";
import { eventOf } from "../write.ts";
import { ATTEMPTS, type Claimed } from "./claim.ts";
import { attemptOf, type EpisodeStatus, setStatuses, statusOf } from "./episode-status.ts";
import { isTrouble, troubleWaitMs, troubleWith } from "./provider-trouble.ts";

export interface Spent {
  readonly usage: Usage;
  readonly startedMs: number;
  /** The most that the call can have cost. */
  readonly ceiling?: number;
}

const spentOf = ({ usage, startedMs }: Spent) => ({
  input_tokens: usage.input_tokens,
  output_tokens: usage.output_tokens,
  cost_usd: usage.cost_usd,
  reserved_usd: 0,
  duration_ms: Math.round(performance.now() - startedMs),
});

export const endingOf = (call: Call, spent: Spent): Omit<RunEnd, "state"> => ({
  finished_at: call.now,
  ...spentOf(spent),
});

/** An event about the run as a whole: the episodes, facts and rules have their own. */
export const runEvent = (call: Call, run: Run, type: string, payload: Record<string, unknown>): NewEvent =>
  eventOf(call, {
    type: `consolidation.${type}`,
    entity: { type: "consolidation", id: run.id },
    scope: run.butler,
    payload: { provider: run.provider, model: run.model, episodes: run.episode_ids.length, ...payload },
  });

/** Failures that the same input would cause again: an episode that is alone in its batch has failed for good. */
const PERMANENT: readonly FailureKind[] = ["refused", "too_large"];

export interface Failed {
  readonly counts: Readonly<Record<string, number>>;
  readonly kind: FailureKind;
}

/**
 * Ends the run and sets for each episode when it is tried again, or that it is not. Attempts count wrong answers: a provider
 * that is down, busy, slow or not set up costs none. All runs wait before they ask it again, unless it was not set up.
 */
export async function fail(
  call: Call,
  { run, episodes }: Claimed,
  failure: ExtractorFailure,
  spent: Spent,
): Promise<Failed> {
  const { memory, now } = call;
  const { kind, message } = failure;
  const alone = episodes.length === 1;
  const providerFailed = isTrouble(kind);
  const trouble = providerFailed ? await troubleWith(asOwner(memory, "provider trouble"), run.provider) : undefined;
  const later = new Date(now.getTime() + troubleWaitMs((trouble?.runs ?? 0) + 1));
  const statuses = episodes.map((episode): EpisodeStatus => {
    const attempts = providerFailed ? episode.consolidation_attempts : attemptOf(episode);
    const last = { consolidation_attempts: attempts, last_consolidation_error: clip(message, 500) };
    if (alone && PERMANENT.includes(kind)) return statusOf(episode, { ...last, consolidation_status: "failed" });
    if (providerFailed)
      return statusOf(episode, { ...last, next_consolidation_retry_at: kind === "misconfigured" ? null : later });
    if (attempts >= ATTEMPTS) return statusOf(episode, { ...last, consolidation_status: "dead_letter" });
    const wait = backOffMs(attempts);
    return statusOf(episode, { ...last, next_consolidation_retry_at: new Date(now.getTime() + wait) });
  });
  const count = (status: EpisodeStatus["consolidation_status"]) =>
    statuses.filter(({ consolidation_status }) => consolidation_status === status).length;
  const counts = {
    episodes_to_retry: count("pending"),
    episodes_failed: count("failed"),
    episodes_dead_lettered: count("dead_letter"),
  };
  await memory.db.tx(async (sql) => {
    const end = { ...endingOf(call, { ...spent, usage: failure.usage }), counts, error: message, failure: kind };
    // The cost of a call that timed out is unknown; it is billed at its ceiling so that the daily budget holds.
    const billed = kind === "timeout" && failure.usage.cost_usd === 0 ? { cost_usd: spent.ceiling ?? 0 } : {};
    if (!(await endRun(sql, run.id, { state: "failed", ...end, ...billed }))) return;
    const told = await setStatuses(call, sql, run, statuses);
    await appendEvents(sql, [...told, runEvent(call, run, "failed", { kind, error: message, ...failure.usage })]);
  });
  return { counts, kind };
}

/** Ends a run before the provider was asked: the episodes wait as they did before. */
export async function release(call: Call, { run }: Claimed, why: string): Promise<void> {
  await call.memory.db.tx(async (sql) => {
    const end = { state: "released" as const, finished_at: call.now, reserved_usd: 0, error: why };
    if (await endRun(sql, run.id, end)) await appendEvents(sql, [runEvent(call, run, "released", { why })]);
  });
}

/** Any other error of an extractor is taken to come from the text it was shown, and counts as a wrong answer. */
export function asFailure(error: unknown, aborted: boolean): ExtractorFailure {
  if (error instanceof ExtractorFailure) return error;
  const words = messageOf(error);
  return new ExtractorFailure(aborted ? "timeout" : "invalid_answer", words, NO_USAGE);
}
