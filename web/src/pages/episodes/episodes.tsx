/** What happened, by session, the newest first, and what each episode taught. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Fragment, type ReactNode, useMemo } from "react";
import type { ApiEpisode, ApiEpisodesQuery } from "../../../../src/doors/http/api/types.ts";
import { episodesQuery, statsQuery } from "../../api/queries.ts";
import { dayWords, endOf, useDay } from "../../frame/as-of.ts";
import { A, butlerPath, useButler } from "../../frame/link.tsx";
import { usePageSearch } from "../../frame/search-params.ts";
import { Chips } from "../../parts/chips.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { LongList } from "../../parts/long-list.tsx";
import { Page } from "../../parts/page.tsx";
import { When } from "../../parts/when.tsx";
import { counted } from "../../parts/words.ts";
import { type Session, sessionHref, sessionWords, useKnownSessions } from "../sessions/session-words.ts";
import { EpisodeLine } from "./episode-line.tsx";
import styles from "./episodes.module.css";
import { useEpisodeFilters } from "./filters.ts";

interface Heading {
  readonly key: string;
  readonly first: ApiEpisode;
}
type Row = Heading | { readonly key: string; readonly episode: ApiEpisode };

/** A heading before the first of the episodes of one session that follow each other. */
function rowsOf(episodes: readonly ApiEpisode[]): Row[] {
  return episodes.flatMap((episode, at): Row[] => {
    const row = { key: episode.id, episode };
    const before = episodes[at - 1];
    const isFirst = before === undefined || before.session_id !== episode.session_id;
    return isFirst ? [{ key: `session ${episode.id}`, first: episode }, row] : [row];
  });
}

const PAGE = 100;

export function EpisodesPage() {
  const butler = useButler() ?? "";
  const day = useDay();
  const { state, status, tier, session, scope, tag, q } = usePageSearch();
  const as_of = endOf(day);
  const query = { state, status, tier, session, scope, tag, q, as_of, limit: PAGE } as unknown as ApiEpisodesQuery;
  const { data, error, hasNextPage, isFetching, fetchNextPage, refetch } = useInfiniteQuery(
    episodesQuery(butler, query),
  );
  const episodes = useMemo(() => data?.pages.flatMap((page) => page.episodes) ?? [], [data]);
  const rows = useMemo(() => rowsOf(episodes), [episodes]);
  const sessions = useKnownSessions(butler);
  const filters = useEpisodeFilters(butler, sessions, episodes);
  const isPlain = [state, status, tier, session, scope, tag, q, day].every((value) => value === undefined);
  return (
    <Page
      name={`${butler} · Episodes`}
      sentence={
        isPlain ? (
          <Sentence butler={butler} />
        ) : data === undefined ? (
          "What happened."
        ) : (
          `${hasNextPage ? "More than " : ""}${counted(episodes.length, "episode")} like that.`
        )
      }
      aside={day === undefined ? undefined : `Stored by ${dayWords(day)} and still there, as they are now.`}
    >
      <Chips filters={filters} words="Words in an episode" />
      {error && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && !error && <Loading />}
      {data !== undefined && episodes.length === 0 && !hasNextPage && (
        <Empty
          says={
            isPlain
              ? "Nothing has happened yet. Episodes are what agents hear and do; connect one, or write one by hand:"
              : "No episode is like that."
          }
        >
          {isPlain && (
            <>
              <Command text="butler install claude-code" />
              <Command text={`butler remember "The release is planned for Tuesday." --butler ${butler}`} />
            </>
          )}
        </Empty>
      )}
      <LongList
        label="Episodes"
        rows={rows}
        keyOf={({ key }) => key}
        height={96}
        hasMore={hasNextPage}
        isFetching={isFetching}
        more={fetchNextPage}
        render={(row) =>
          "episode" in row ? (
            <EpisodeLine episode={row.episode} butler={butler} isPast={day !== undefined} />
          ) : (
            <SessionHeading first={row.first} butler={butler} known={sessions.get(row.first.session_id ?? "")} />
          )
        }
      />
    </Page>
  );
}

interface HeadingParts {
  /** The first episode below it, the newest of them. */
  readonly first: ApiEpisode;
  readonly butler: string;
  readonly known: Session | undefined;
}

function SessionHeading({ first: { session_id, occurred_at }, butler, known }: HeadingParts) {
  return (
    <div className={styles.session}>
      <h2>
        {session_id === null ? (
          "Without a session"
        ) : (
          <A to={sessionHref(butler, known?.key ?? session_id)} title={session_id}>
            {known === undefined ? `Session ${session_id}` : sessionWords(known)}
          </A>
        )}
      </h2>
      <span>
        {known !== undefined && "began "}
        <When at={known?.at ?? occurred_at} />
      </span>
    </div>
  );
}

function Sentence({ butler }: { readonly butler: string }): ReactNode {
  const { data } = useQuery(statsQuery(butler));
  if (data === undefined) return "What happened.";
  const { total, by_status } = data.episodes;
  if (total === 0) return "Nothing has happened yet.";
  const open = OPEN.flatMap(([status, one, many]) => {
    const n = by_status[status] ?? 0;
    return n === 0 ? [] : [{ status, words: `${n.toLocaleString("en")} ${n === 1 ? one : many}` }];
  });
  if (open.length === 0) return `${counted(total, "episode")} kept; all of them were learned from.`;
  return (
    <>
      {counted(total, "episode")} kept
      {open.map(({ status, words }) => (
        <Fragment key={status}>
          ,{" "}
          <A to={butlerPath(butler, "episodes")} search={{ status }}>
            {words}
          </A>
        </Fragment>
      ))}
      .
    </>
  );
}

const OPEN = [
  ["pending", "waits to be learned from", "wait to be learned from"],
  ["failed", "could not be learned from", "could not be learned from"],
  ["dead_letter", "was given up", "were given up"],
] as const;
