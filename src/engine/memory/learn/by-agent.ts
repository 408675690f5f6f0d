/** An agent consolidates in place of an extractor: it is given a batch and what is known, and returns an extractor's answer. */
import type { Material } from "../../adapters/extractor/port.ts";
import { NO_USAGE } from "../../adapters/extractor/port.ts";
import { conflict, notFound } from "../../domain/errors.ts";
import type { Answer } from "../../domain/learning/answer.ts";
import { checkWholeLadder } from "../../domain/scope.ts";
import { batchOf, endRun, findRun, type Run, setInput } from "../../store/jobs/consolidation.ts";
import type { Call } from "../memory.ts";
import { beginAttempt, type Claimed, claim, materialOf } from "./claim.ts";
import { withKnown } from "./consolidate.ts";
import { AGENT_PROVIDER, type Learned, learn } from "./learn.ts";

const MOST_EPISODES = 25;
const MAX_CHARS = 60_000;

export interface GivenBatch {
  readonly run_id: string;
  readonly lease_until: string;
  readonly material: Material;
}

/** Undefined when nothing waits. */
export async function giveBatch(call: Call, limit: number | undefined): Promise<GivenBatch | undefined> {
  checkWholeLadder(call.caller);
  const claimed = await claim(call, {
    ...{ provider: AGENT_PROVIDER, model: call.caller.actor, maxChars: MAX_CHARS },
    maxEpisodes: Math.min(limit ?? MOST_EPISODES, MOST_EPISODES),
  });
  if (claimed === undefined) return undefined;
  if (claimed === "busy") throw conflict("these episodes are being consolidated right now; try again in five minutes.");
  call.following?.progress?.({ done: 1, total: 2, message: "the episodes are yours; what is known is looked up" });
  const { material, shown } = await withKnown(call, materialOf(call, claimed, MAX_CHARS));
  await beginAttempt(call, claimed, 0, 0);
  await setInput(call.memory.db, claimed.run.id, Object.fromEntries(shown));
  return { run_id: claimed.run.id, lease_until: claimed.run.lease_until.toISOString(), material };
}

/** The same answer twice is applied once and answered the same way. */
export async function takeAnswer(call: Call, runId: string, answer: Answer): Promise<Learned> {
  const { memory, caller, now } = call;
  checkWholeLadder(caller);
  const run = await findRun(memory.db, caller.tenant, runId);
  if (run === undefined || run.butler !== caller.butler || run.provider !== AGENT_PROVIDER)
    throw notFound(`there is no batch ${runId} of yours; call memory_consolidate without run_id to be given one.`);
  if (run.state === "done") return answerOf(run);
  if (run.state !== "running" || run.lease_until <= now)
    throw conflict("this batch was given to you more than five minutes ago and is yours no longer; ask for a new one.");
  const claimed = await claimedAgain(call, run);
  const shown = new Map(Object.entries((run.input ?? {}) as Record<string, string>));
  return learn(call, claimed, { answer }, shown, { usage: NO_USAGE, startedMs: performance.now() });
}

async function claimedAgain(call: Call, run: Run): Promise<Claimed> {
  const { memory, now } = call;
  const found = new Map((await batchOf(memory.db, run)).map((episode) => [episode.id, episode]));
  const episodes = run.episode_ids.flatMap((id) => found.get(id) ?? []);
  if (episodes.length < run.episode_ids.length) {
    await endRun(memory.db, run.id, { state: "released", finished_at: now, error: "some of its episodes are gone" });
    throw conflict("some episodes of this batch are gone meanwhile; ask for a new one.");
  }
  // The attempts before this one, which was counted when the batch was given.
  const before = episodes.map((episode) => ({
    ...episode,
    consolidation_attempts: Math.max(0, episode.consolidation_attempts - 1),
  }));
  return { run, episodes: before };
}

function answerOf(run: Run): Learned {
  const { changes, dropped } = run.decisions as Pick<Learned, "changes" | "dropped">;
  return { run_id: run.id, counts: run.counts ?? {}, changes, dropped };
}
