/** What was known on a day, and what changed between two days. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useId, useMemo } from "react";
import { changesQuery } from "../../api/queries.ts";
import { dayOf, dayWords, endOf, useDay } from "../../frame/as-of.ts";
import { useLater } from "../../frame/later.ts";
import { butlerPath, useButler } from "../../frame/link.tsx";
import { usePageSearch, useSetSearch } from "../../frame/search-params.ts";
import { Button } from "../../parts/actions.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Page } from "../../parts/page.tsx";
import { ChangeLine } from "./change-line.tsx";
import styles from "./changes.module.css";
import { GROUPS, type Grouped, grouped } from "./groups.ts";

const DAY_MS = 86_400_000;
const SPAN_DAYS = 90;
const USUAL_DAYS = 7;
const DRAGGING_MS = 180;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

const dayAgo = (days: number): string => dayOf(new Date(Date.now() - days * DAY_MS));
const isDay = (text: string | undefined): text is string =>
  text !== undefined && DAY.test(text) && !Number.isNaN(Date.parse(text));
const daysSince = (day: string): number =>
  Math.round((Date.parse(`${dayOf(new Date())}T12:00:00`) - Date.parse(`${day}T12:00:00`)) / DAY_MS);

/** Both as the ends of days; `to` is undefined for now. A later day before an earlier one is turned round. */
function useDays(): { readonly from: string; readonly to: string | undefined } {
  const search = usePageSearch();
  const chosen = useDay();
  const from = isDay(search.from) ? search.from : (chosen ?? dayAgo(USUAL_DAYS));
  const to = isDay(search.to) && search.to !== dayOf(new Date()) ? search.to : undefined;
  return to !== undefined && to < from ? { from: to, to: from } : { from, to };
}

export function ChangesPage() {
  const butler = useButler() ?? "";
  const { from, to } = useDays();
  const { data, error, hasNextPage, isFetching, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery(
    changesQuery(butler, endOf(from) ?? "", endOf(to)),
  );
  const groups = useMemo(() => data && grouped(data.pages.flatMap((page) => page.changes)), [data]);
  return (
    <Page name={`${butler} · Changes`} sentence={sentenceOf(groups, from, to, hasNextPage)}>
      <Days from={from} to={to} butler={butler} />
      {error && <Failure error={error} again={() => void refetch()} />}
      {groups === undefined && !error && <Loading />}
      {groups !== undefined && !error && (
        <div aria-busy={isFetching}>
          {groups.size === 0 && (
            <Empty
              says={
                to === undefined
                  ? "Nothing has changed since. An earlier day may show more."
                  : "Nothing changed between these days."
              }
            />
          )}
          {GROUPS.map(({ name, title, about }) => {
            const changes = groups.get(name);
            return changes === undefined ? null : (
              <section key={name} id={name} className={styles.group} aria-label={title}>
                <h2 className={styles.title}>
                  {title} <span>{changes.length}</span>
                </h2>
                <p className={styles.about}>{about}</p>
                {changes.map((change) => (
                  <ChangeLine key={change.id} change={change} butler={butler} />
                ))}
              </section>
            );
          })}
          {hasNextPage && (
            <p className={styles.more}>
              <Button onClick={() => void fetchNextPage()}>
                {isFetchingNextPage ? "Loading …" : "Earlier changes"}
              </Button>
            </p>
          )}
        </div>
      )}
    </Page>
  );
}

function sentenceOf(groups: Grouped | undefined, from: string, to: string | undefined, hasMore: boolean): ReactNode {
  const when = to === undefined ? `Since ${dayWords(from)}` : `From ${dayWords(from)} to ${dayWords(to)}`;
  if (groups === undefined) return `${when} …`;
  if (groups.size === 0) return `${when} nothing changed.`;
  return (
    <>
      {when}:{" "}
      {GROUPS.filter(({ name }) => groups.has(name)).map(({ name, word }, at) => (
        <span key={name}>
          {at > 0 && ", "}
          <a href={`#${name}`}>
            {groups.get(name)?.length}
            {hasMore ? "+" : ""} {word}
          </a>
        </span>
      ))}
      .
    </>
  );
}

interface DaysParts {
  readonly from: string;
  readonly to: string | undefined;
  readonly butler: string;
}

function Days({ from, to, butler }: DaysParts) {
  const set = useSetSearch();
  const id = useId();
  const today = dayOf(new Date());
  const back = Math.min(SPAN_DAYS, Math.max(0, daysSince(from)));
  const [days, setDays] = useLater(String(back), (value) => set({ from: dayAgo(Number(value)) }, true), DRAGGING_MS);
  const shown = Number(days) === back ? from : dayAgo(Number(days));
  return (
    <div className={styles.days}>
      <label htmlFor={`${id}-slider`} className={styles.label}>
        What was known at the end of <output>{dayWords(shown)}</output>
      </label>
      <input
        id={`${id}-slider`}
        type="range"
        className={styles.slider}
        min={-SPAN_DAYS}
        max={0}
        step={1}
        value={-Number(days)}
        aria-valuetext={dayWords(shown)}
        onChange={(event) => setDays(String(-Number(event.target.value)))}
      />
      <div className={styles.scale} aria-hidden="true">
        <span>{SPAN_DAYS} days ago</span>
        <span>today</span>
      </div>
      <div className={styles.fields}>
        <label>
          from the end of
          <input
            type="date"
            value={shown}
            max={today}
            onChange={(event) => isDay(event.target.value) && set({ from: event.target.value })}
          />
        </label>
        <label>
          to the end of
          <input
            type="date"
            value={to ?? today}
            max={today}
            onChange={(event) =>
              isDay(event.target.value) && set({ to: event.target.value === today ? undefined : event.target.value })
            }
          />
        </label>
        <p className={styles.known}>
          As of that day: <Then butler={butler} page="facts" day={shown} />,{" "}
          <Then butler={butler} page="rules" day={shown} />
        </p>
      </div>
    </div>
  );
}

/** A link that looks at its own day, not at the one of the header. */
const Then = ({ butler, page, day }: { readonly butler: string; readonly page: string; readonly day: string }) => (
  <Link to={butlerPath(butler, page)} search={(day === dayOf(new Date()) ? {} : { as_of: day }) as never}>
    all {page}
  </Link>
);
