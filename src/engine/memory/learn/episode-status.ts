/** Changes of the consolidation status of episodes, and their events. */

import type { Sql } from "../../adapters/db/port.ts";
import type { NewEvent } from "../../domain/event.ts";
import { appendEvents } from "../../store/history/events.ts";
import { type BatchEpisode, type EpisodeStanding, type Run, setStanding } from "../../store/jobs/consolidation.ts";
import type { Call } from "../memory.ts";
import { eventOf } from "../write.ts";

export type EpisodeStatus = EpisodeStanding & { readonly id: string };

export const attemptOf = (episode: BatchEpisode): number => episode.consolidation_attempts + 1;

export const statusOf = ({ id }: { id: string }, set: Partial<EpisodeStanding>): EpisodeStatus => ({
  id,
  consolidation_status: "pending",
  consolidation_attempts: 0,
  last_consolidation_error: null,
  next_consolidation_retry_at: null,
  ...set,
});

const WORDS = {
  pending: "consolidation_failed",
  consolidated: "consolidated",
  failed: "failed",
  dead_letter: "dead_lettered",
} as const;

/** Changes the episodes that are still pending, and returns the events of the changes. */
export async function setStatuses(
  call: Call,
  sql: Sql,
  run: Pick<Run, "id" | "butler">,
  statuses: readonly EpisodeStatus[],
  type?: string,
): Promise<NewEvent[]> {
  const changed = new Set(await setStanding(sql, "pending", statuses));
  return statuses
    .filter(({ id }) => changed.has(id))
    .map(({ id, ...set }) =>
      eventOf(call, {
        type: type ?? `episode.${WORDS[set.consolidation_status]}`,
        entity: { type: "episode", id },
        scope: run.butler,
        payload: { set, from: "pending", run: run.id },
      }),
    );
}

/** Before the provider is asked: a process that dies meanwhile has used an attempt. */
export async function countAttempt(call: Call, sql: Sql, run: Run, episodes: readonly BatchEpisode[]): Promise<void> {
  const statuses = episodes.map((episode) => statusOf(episode, { consolidation_attempts: attemptOf(episode) }));
  await appendEvents(sql, await setStatuses(call, sql, run, statuses, "episode.consolidation_attempted"));
}

export const learnedFrom = (episodes: readonly BatchEpisode[]): EpisodeStatus[] =>
  episodes.map((episode) =>
    statusOf(episode, { consolidation_status: "consolidated", consolidation_attempts: attemptOf(episode) }),
  );
