/** Whether a butler is well: its conditions, what waits, its jobs, its sizes and its speed. */
import { useQuery } from "@tanstack/react-query";
import type { ApiHealth } from "../../../../src/doors/http/api/types.ts";
import { healthQuery } from "../../api/queries.ts";
import { A, butlerPath, useButler } from "../../frame/link.tsx";
import type { PageSearch } from "../../frame/search-params.ts";
import { Command, Empty } from "../../parts/empty.tsx";
import { FailedPage } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { Spend } from "../../parts/spend.tsx";
import { When } from "../../parts/when.tsx";
import { Conditions } from "./conditions.tsx";
import styles from "./health.module.css";
import { Jobs } from "./jobs.tsx";
import { Latency, Sizes, Unknown } from "./measures.tsx";
import { standingSentence, worstFirst } from "./words.ts";

export function HealthPage() {
  const butler = useButler() ?? "";
  const { data, error, refetch } = useQuery(healthQuery(butler));
  if (error) return <FailedPage name={`${butler} · Health`} error={error} again={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  return (
    <Page name={`${butler} · Health`} sentence={standingSentence(data)} aside={<About health={data} />}>
      {data.reason !== undefined && (
        <p className={styles.reason} role="note">
          {data.reason}
        </p>
      )}
      <Section title="Conditions">
        {data.conditions.length === 0 ? (
          <Empty says="Its conditions are told to those who run this butler. At the command line:">
            <Command text="butler doctor" />
          </Empty>
        ) : (
          <Conditions conditions={worstFirst(data.conditions)} butler={butler} />
        )}
      </Section>
      <Section title="Waiting">
        <Waiting waiting={data.waiting} butler={butler} />
      </Section>
      <Section title="Jobs">
        <Jobs jobs={data.jobs} butler={butler} />
      </Section>
      <Section title="Spend" aside={<A to={butlerPath(butler, "runs")}>all runs</A>}>
        {data.spend === null ? <Unknown what="What the day has cost is" /> : <Spend spend={data.spend} />}
      </Section>
      <Section title="Speed" aside={<span className={styles.soft}>calls of the last 15 minutes</span>}>
        <Latency latency={data.latency} />
      </Section>
      <Section
        title="Store"
        aside={
          data.sizes !== null && (
            <span className={styles.soft}>
              measured <When at={data.sizes.sampled_at} />
            </span>
          )
        }
      >
        {data.sizes === null ? (
          <Unknown what="The size of the store is" />
        ) : (
          <Sizes sizes={data.sizes} pool={data.pool} butler={butler} />
        )}
      </Section>
    </Page>
  );
}

const STORES: Readonly<Record<ApiHealth["store"], string>> = {
  open: "its store is open",
  closed: "its store is closed, and opens on first use",
  off: "it has no memory",
  failed: "its store could not be opened",
  unknown: "its store does not answer",
};

function About({ health: { store, version, model } }: { readonly health: ApiHealth }) {
  return (
    <>
      Version {version}; {STORES[store]}; model {model}. Asked again every 15 seconds.
    </>
  );
}

function Waiting({ waiting, butler }: { readonly waiting: ApiHealth["waiting"]; readonly butler: string }) {
  if (waiting === null) return <Unknown what="What waits is" />;
  const age = waiting.backlog_age_hours;
  const rows: readonly (readonly [n: number, word: string, page: string, search: PageSearch])[] = [
    [waiting.backlog, "episodes to learn from", "episodes", { status: "pending" }],
    [waiting.dead_letters, "dead letters", "runs", { show: "dead-letters" }],
    [waiting.contradictions, "contradictions", "activity", { event: "fact.contradicted" }],
  ];
  return (
    <dl className={styles.numbers}>
      {rows.map(([n, word, page, search]) => (
        <div key={word}>
          <dt>{word}</dt>
          <dd>
            <A to={butlerPath(butler, page)} search={search}>
              {n.toLocaleString("en")}
            </A>
          </dd>
        </div>
      ))}
      {waiting.backlog > 0 && (
        <div>
          <dt>age of the oldest</dt>
          <dd>{age === null ? "unknown" : age < 1 ? "under an hour" : `${Math.round(age)} h`}</dd>
        </div>
      )}
    </dl>
  );
}
