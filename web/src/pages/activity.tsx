/** Everything that happened, the newest first, as it happens. */
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import type { ApiEvent } from "../../../src/doors/http/api/types.ts";
import { activityQuery, fleetActivityQuery } from "../api/queries.ts";
import { endOf, useDay } from "../frame/as-of.ts";
import { useButler } from "../frame/link.tsx";
import { usePageSearch } from "../frame/search-params.ts";
import { Chips, type Filter } from "../parts/chips.tsx";
import { Empty } from "../parts/empty.tsx";
import { EventLine } from "../parts/event-line.tsx";
import { eventVerb, isUndoable } from "../parts/events.ts";
import { Failure } from "../parts/failure.tsx";
import { Loading } from "../parts/loading.tsx";
import { LongList } from "../parts/long-list.tsx";
import { Page } from "../parts/page.tsx";
import { UndoWhatCame } from "../parts/undo.tsx";
import styles from "./activity.module.css";

const EVENTS = [
  "fact.stored",
  "rule.stored",
  "episode.stored",
  "fact.superseded",
  "fact.contradicted",
  "fact.forgotten",
  "rule.forgotten",
  "rule.promoted",
  "rule.inverted",
  "episode.dead_lettered",
];

const FILTERS: readonly Filter[] = [
  {
    key: "type",
    label: "about",
    unset: "everything",
    options: ["fact", "rule", "episode"].map((type) => [type, `${type}s`]),
  },
  {
    key: "event",
    label: "what",
    unset: "all that happened",
    options: EVENTS.map((type) => [type, `${type.split(".")[0]} ${eventVerb(type)}`]),
  },
  { key: "everything", label: "with", unset: "changes only", options: [["true", "also what was read"]] },
];

interface EventsPage {
  readonly events: readonly (ApiEvent & { readonly of?: string })[];
  readonly next_cursor: string | null;
}

export function ActivityPage() {
  const butler = useButler() ?? "";
  const query = useFilters();
  return <Events butler={butler} found={useInfiniteQuery(activityQuery(butler, query as never)) as Found} />;
}

export function FleetActivityPage() {
  const query = useFilters();
  return <Events butler={undefined} found={useInfiniteQuery(fleetActivityQuery(query)) as Found} />;
}

type Found = UseInfiniteQueryResult<InfiniteData<EventsPage>>;

function useFilters() {
  const { type, event, everything, session } = usePageSearch();
  return { type, event, everything, session, to: endOf(useDay()) };
}

function Events({ butler, found }: { readonly butler: string | undefined; readonly found: Found }) {
  const { data, error, hasNextPage, isFetching, fetchNextPage, refetch } = found;
  const events = data?.pages.flatMap((page) => page.events) ?? [];
  const name = butler === undefined ? "All butlers · Activity" : `${butler} · Activity`;
  return (
    <Page name={name} sentence="What happened, the newest first.">
      <Chips filters={FILTERS} />
      {error && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && !error && <Loading />}
      {data !== undefined && events.length === 0 && <Empty says="Nothing like that has happened." />}
      {events.length > 0 && (
        <LongList
          label="Events"
          rows={events}
          keyOf={({ id }) => id}
          height={68}
          hasMore={hasNextPage}
          isFetching={isFetching}
          more={fetchNextPage}
          render={(event) => <Happened event={event} butler={event.of ?? butler ?? ""} named={butler === undefined} />}
        />
      )}
    </Page>
  );
}

interface HappenedParts {
  readonly event: ApiEvent;
  readonly butler: string;
  readonly named: boolean;
}

/** A line that leads to its memory, and beside it the way back, where there is one. */
function Happened({ event, butler, named }: HappenedParts) {
  return (
    <div className={styles.row}>
      <EventLine event={event} butler={butler} named={named} />
      <div className={styles.undo}>
        {isUndoable(event.event_type) && (
          <UndoWhatCame butler={butler} cause={{ event: event.id }} words="Undo…" isQuiet />
        )}
      </div>
    </div>
  );
}
