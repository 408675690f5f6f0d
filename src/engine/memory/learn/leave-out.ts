/** Consolidates the episodes that are not worth a model's call, before it is asked: what is left fills its batches. */
import { type Extractor, NO_USAGE } from "../../adapters/extractor/port.ts";
import { NOTHING_LEARNED } from "../../domain/learning/answer.ts";
import { dueEpisodes } from "../../store/jobs/consolidation.ts";
import type { Call } from "../memory.ts";
import { beginAttempt, claim, labelledTurns, shownTurn } from "./claim.ts";
import { learn } from "./learn.ts";

type WorthACall = NonNullable<Extractor["worthACall"]>;

/** How far ahead is looked: at least a whole batch. */
const LOOK = 200;
/** No model is asked, so that such a run tells nothing of the provider's state and costs nothing. */
const READER = { provider: "local", model: "reader", maxChars: Number.POSITIVE_INFINITY, maxEpisodes: LOOK };

/**
 * Returns how many were left out. They have a run of their own: a model that fails over the others must not make them wait, or dead
 * letters. `judged` keeps the verdicts of one job, in which the same episodes are looked at again before each batch.
 */
export async function leaveOut(call: Call, worthACall: WorthACall, judged: Map<string, boolean>): Promise<number> {
  const { memory, caller, now } = call;
  const due = await dueEpisodes(memory.db, { tenant: caller.tenant, butler: caller.butler }, now, LOOK);
  const turns = labelledTurns(due.filter(({ id }) => !judged.has(id)));
  const worth = new Set((await worthACall(turns.map(shownTurn))).map(({ label }) => label));
  for (const { label, episode } of turns) judged.set(episode.id, (judged.get(episode.id) ?? false) || worth.has(label));
  const idle = new Set(due.flatMap(({ id }) => (judged.get(id) === false ? [id] : [])));
  let left = 0;
  while (left < idle.size) {
    const claimed = await claim(call, READER, idle);
    if (claimed === undefined || claimed === "busy") break;
    await beginAttempt(call, claimed, 0, 0);
    const spent = { usage: NO_USAGE, startedMs: performance.now() };
    await learn(call, claimed, { answer: NOTHING_LEARNED }, new Map(), spent);
    left += claimed.episodes.length;
  }
  return left;
}
