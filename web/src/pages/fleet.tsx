/** All butlers: what they learned, what waits, and who does not answer. */
import { useQuery } from "@tanstack/react-query";
import type { ApiFleetStats, ApiFleetToday } from "../../../src/doors/http/api/types.ts";
import { fleetStatsQuery, fleetTodayQuery } from "../api/queries.ts";
import { useDay } from "../frame/as-of.ts";
import { A, butlerPath } from "../frame/link.tsx";
import { usePageSearch } from "../frame/search-params.ts";
import { DaysChart } from "../parts/days-chart.tsx";
import { Empty } from "../parts/empty.tsx";
import { byMemory, EventLine } from "../parts/event-line.tsx";
import { FailedPage } from "../parts/failure.tsx";
import { Loading } from "../parts/loading.tsx";
import { Page, Section } from "../parts/page.tsx";
import { compact } from "../parts/words.ts";
import styles from "./fleet.module.css";
import { todaySentence } from "./today.tsx";

export function FleetPage() {
  const { day: chosen } = usePageSearch();
  const asOf = useDay();
  const day = chosen ?? asOf;
  const { data, error, refetch } = useQuery(fleetTodayQuery(day));
  const { data: stats } = useQuery(fleetStatsQuery);
  if (error) return <FailedPage name="All butlers" error={error} again={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  const silent = data.butlers.filter(({ ok }) => !ok).length;
  const isKnown = silent < data.butlers.length;
  return (
    <Page
      name="All butlers"
      sentence={todaySentence(data, day)}
      aside={
        silent === 0
          ? undefined
          : isKnown
            ? `${silent} of ${data.butlers.length} butlers did not answer: the numbers are of the others.`
            : "They are asked again every few seconds."
      }
    >
      <Section title="Butlers">
        <ul className={styles.butlers}>
          {data.butlers.map((told) => (
            <li key={told.name}>
              <ButlerCard told={told} stats={stats?.butlers.find(({ name }) => name === told.name)} />
            </li>
          ))}
        </ul>
      </Section>
      {isKnown && (
        <Section title={day === undefined ? "Today" : "That day"} aside={<A to="/memory/activity">all activity</A>}>
          {data.items.length === 0 && (
            <Empty
              says={silent === 0 ? "Nothing was learned anywhere." : "Nothing was learned by those that answered."}
            />
          )}
          {byMemory(data.items).map(({ event, earlier }) => (
            <EventLine key={event.id} event={event} earlier={earlier} butler={event.of} named />
          ))}
        </Section>
      )}
      {isKnown && (
        <Section title="30 days">
          <DaysChart days={data.days} to="/memory" />
        </Section>
      )}
    </Page>
  );
}

interface CardParts {
  readonly told: ApiFleetToday["butlers"][number];
  readonly stats: ApiFleetStats["butlers"][number] | undefined;
}

function ButlerCard({ told, stats }: CardParts) {
  const { name } = told;
  if (!told.ok)
    return (
      <div className={styles.card} data-silent>
        <strong>
          <A to={butlerPath(name)}>{name}</A> <span className={styles.unknown}>unknown</span>
        </strong>
        <p className={styles.reason}>{told.reason}</p>
      </div>
    );
  const { learned, waiting } = told.answer;
  const counts = stats?.ok ? stats.answer : undefined;
  return (
    <div className={styles.card}>
      <strong>
        <A to={butlerPath(name)}>{name}</A>
      </strong>
      <dl className={styles.numbers}>
        <Count of={counts?.facts.total} word="facts" to={butlerPath(name, "facts")} />
        <Count of={counts?.rules.total} word="rules" to={butlerPath(name, "rules")} />
        <Count of={counts?.episodes.total} word="episodes" to={butlerPath(name, "episodes")} />
        <Count of={learned.facts + learned.rules} word="learned" to={butlerPath(name)} />
        <Count of={waiting.backlog + waiting.dead_letters + waiting.to_review} word="waiting" to={butlerPath(name)} />
      </dl>
    </div>
  );
}

function Count({ of, word, to }: { readonly of: number | undefined; readonly word: string; readonly to: string }) {
  return (
    <div>
      <dt>{word}</dt>
      <dd>{of === undefined ? <span title="Not known yet.">…</span> : <A to={to}>{compact(of)}</A>}</dd>
    </div>
  );
}
