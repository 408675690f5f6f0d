/** What a day brought, and what waits. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiToday } from "../../../src/doors/http/api/types.ts";
import { countsQuery, reviewQuery, todayQuery } from "../api/queries.ts";
import { dayWords, useDay } from "../frame/as-of.ts";
import { A, butlerPath, useButler } from "../frame/link.tsx";
import { usePageSearch } from "../frame/search-params.ts";
import { DaysChart } from "../parts/days-chart.tsx";
import { Command, Empty } from "../parts/empty.tsx";
import { byMemory, EventLine } from "../parts/event-line.tsx";
import { AreExamples, Examples } from "../parts/examples.tsx";
import { FailedPage } from "../parts/failure.tsx";
import { Loading } from "../parts/loading.tsx";
import { Page, Section } from "../parts/page.tsx";
import { counted, listed } from "../parts/words.ts";
import { Review } from "./review/review.tsx";

export function TodayPage() {
  const butler = useButler() ?? "";
  const { day: chosen } = usePageSearch();
  const asOf = useDay();
  const day = chosen ?? asOf;
  const { data, error, refetch } = useQuery(todayQuery(butler, day));
  const { data: counts } = useQuery(countsQuery(butler));
  // It stands above the list, which must not move when it comes.
  const { isPending } = useInfiniteQuery({ ...reviewQuery(butler), enabled: day === undefined });
  if (error) return <FailedPage name={`${butler} · Today`} error={error} again={() => void refetch()} />;
  if (data === undefined || (isPending && day === undefined)) return <Loading />;
  const isEmpty = counts !== undefined && counts.facts + counts.facts_waiting + counts.rules + counts.episodes === 0;
  return (
    <Page
      name={`${butler} · Today`}
      sentence={isEmpty ? `${butler} knows nothing yet.` : todaySentence(data, day)}
      aside={<Waiting butler={butler} waiting={data.waiting} />}
    >
      {isEmpty && <FirstSteps butler={butler} />}
      {!isEmpty && <AreExamples butler={butler} />}
      {!isEmpty && data.items.length === 0 && (
        <Empty says={day === undefined ? "Nothing was learned today so far." : "Nothing was learned on this day."}>
          <p>
            <A to={butlerPath(butler, "facts")}>What is known</A> ·{" "}
            <A to={butlerPath(butler, "activity")}>everything that happened</A>
          </p>
        </Empty>
      )}
      {day === undefined && <Review butler={butler} />}
      {data.items.length > 0 && (
        <Section title={day === undefined ? "Today" : "That day"}>
          {byMemory(data.items).map(({ event, earlier }) => (
            <EventLine key={event.id} event={event} earlier={earlier} butler={butler} />
          ))}
        </Section>
      )}
      {!isEmpty && (
        <Section title="30 days">
          <DaysChart days={data.days} to={butlerPath(butler)} />
        </Section>
      )}
    </Page>
  );
}

function FirstSteps({ butler }: { readonly butler: string }) {
  return (
    <Empty says="No memories yet. Connect an agent, and what it hears is remembered:">
      <Command text="butler install claude-code" />
      <Command text={`butler remember "We deploy on Fridays." --butler ${butler}`} />
      <Examples butler={butler} />
    </Empty>
  );
}

export function todaySentence(
  { learned }: { readonly learned: Record<"facts" | "rules" | "sessions", number | null> },
  day: string | undefined,
): string {
  const when = day === undefined ? "today" : `on ${dayWords(day)}`;
  const { facts, rules, sessions } = learned;
  if (facts === null || rules === null) return `What was learned ${when} is not known: no butler answered.`;
  const parts = [facts > 0 && counted(facts, "fact"), rules > 0 && counted(rules, "rule")].filter(
    (part) => part !== false,
  );
  if (parts.length === 0) return `Nothing was learned ${when}.`;
  return `Learned ${listed(parts)} ${when}${sessions === null || sessions === 0 ? "" : `, from ${counted(sessions, "session")}`}.`;
}

function Waiting({ butler, waiting }: { readonly butler: string; readonly waiting: ApiToday["waiting"] }): ReactNode {
  const { to_review, dead_letters, backlog, backlog_age_hours } = waiting;
  if (to_review + dead_letters + backlog === 0) return "Nothing waits for you.";
  return (
    <>
      Waiting: {to_review > 0 && <A to={butlerPath(butler)}>{counted(to_review, "memory")} to review</A>}
      {to_review > 0 && dead_letters + backlog > 0 && " · "}
      {dead_letters > 0 && (
        <A to={butlerPath(butler, "runs")} search={{ show: "dead-letters" }}>
          {counted(dead_letters, "dead letter")}
        </A>
      )}
      {dead_letters > 0 && backlog > 0 && " · "}
      {backlog > 0 && (
        <A to={butlerPath(butler, "episodes")} search={{ status: "pending" }}>
          {counted(backlog, "episode")} to learn from
          {backlog_age_hours !== null && backlog_age_hours >= 1
            ? `, the oldest ${Math.round(backlog_age_hours)} h old`
            : ""}
        </A>
      )}
    </>
  );
}
