/** The episodes of a session, oldest first; those that have ended since only by what the log of events still says. */
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ApiEpisodesQuery, ApiEvent } from "../../../../src/doors/http/api/types.ts";
import { episodesQuery } from "../../api/queries.ts";
import { useDay } from "../../frame/as-of.ts";
import { Button } from "../../parts/actions.tsx";
import { EventLine } from "../../parts/event-line.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { EpisodeLine } from "../episodes/episode-line.tsx";
import styles from "./sessions.module.css";

interface HappenedParts {
  readonly butler: string;
  readonly session: string;
  readonly stored: readonly ApiEvent[];
}

const PAGE = 100;

export function Happened({ butler, session, stored }: HappenedParts) {
  const isPast = useDay() !== undefined;
  const { data, error, refetch, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery(
    episodesQuery(butler, { session, limit: PAGE } as ApiEpisodesQuery),
  );
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <Loading lines={3} />;
  const episodes = data.pages.flatMap((page) => page.episodes).toReversed();
  const known = new Set(episodes.map(({ id }) => id));
  const ended = hasNextPage ? [] : stored.filter(({ entity_id }) => !known.has(entity_id));
  if (episodes.length + ended.length === 0)
    return <p className={styles.soft}>Nothing was kept of it so far; what is said is stored when the agent pauses.</p>;
  return (
    <>
      {ended.length > 0 && <p className={styles.soft}>Not kept any more:</p>}
      {ended.map((event) => (
        <EventLine key={event.id} event={event} butler={butler} />
      ))}
      {hasNextPage && (
        <Button onClick={() => void fetchNextPage()}>{isFetching ? "Loading …" : "What happened before"}</Button>
      )}
      {episodes.map((episode) => (
        <EpisodeLine key={episode.id} episode={episode} butler={butler} isPast={isPast} />
      ))}
    </>
  );
}
