/** Sessions of agents, the newest first: what each was told, and what was kept of it. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { sessionsQuery } from "../../api/queries.ts";
import { dayWords, endOf, useDay } from "../../frame/as-of.ts";
import { useButler } from "../../frame/link.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { LongList } from "../../parts/long-list.tsx";
import { Page } from "../../parts/page.tsx";
import { counted } from "../../parts/words.ts";
import { SessionLine } from "./session-line.tsx";
import type { Session } from "./session-words.ts";

export function SessionsPage() {
  const butler = useButler() ?? "";
  const day = useDay();
  const { data, error, hasNextPage, isFetching, fetchNextPage, refetch } = useInfiniteQuery(sessionsQuery(butler));
  const sessions = useMemo(() => {
    const at = endOf(day);
    const all = data?.pages.flatMap((page) => page.sessions) ?? [];
    return at === undefined ? all : all.filter((session) => session.at <= at);
  }, [data, day]);
  return (
    <Page
      name={`${butler} · Sessions`}
      sentence={data === undefined ? "Sessions of agents." : sentenceOf(sessions, hasNextPage)}
      aside={day === undefined ? undefined : `Begun by ${dayWords(day)}, as they are now.`}
    >
      {error && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && !error && <Loading />}
      {data !== undefined && sessions.length === 0 && !hasNextPage && (
        <Empty
          says={
            day === undefined
              ? "No agent has used this memory yet. Connect one, and its sessions are listed here:"
              : "No session had begun by then."
          }
        >
          {day === undefined && (
            <>
              <Command text={`butler install claude-code --butler ${butler}`} />
              <p>Or start one with its memory:</p>
              <Command text={`butler run "What is on my mind?" --butler ${butler}`} />
            </>
          )}
        </Empty>
      )}
      <LongList
        label="Sessions"
        rows={sessions}
        keyOf={({ key, id }) => key ?? id}
        height={72}
        hasMore={hasNextPage}
        isFetching={isFetching}
        more={fetchNextPage}
        render={(session) => <SessionLine session={session} butler={butler} />}
      />
    </Page>
  );
}

function sentenceOf(sessions: readonly Session[], hasMore: boolean): string {
  if (sessions.length === 0) return hasMore ? "Sessions of agents." : "No sessions yet.";
  const running = sessions.filter(({ state }) => state === "running").length;
  const now = running === 0 ? "" : `; ${running} ${running === 1 ? "is" : "are"} running now`;
  return `${hasMore ? "More than " : ""}${counted(sessions.length, "session")} with this memory${now}.`;
}
