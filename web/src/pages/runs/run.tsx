/** One run: what was read, beside what was decided from it. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ApiRun } from "../../../../src/doors/http/api/types.ts";
import { runQuery } from "../../api/queries.ts";
import { A, butlerPath, useButler } from "../../frame/link.tsx";
import { usePageSearch } from "../../frame/search-params.ts";
import { ShortId } from "../../parts/empty.tsx";
import { FailedPage } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { UndoWhatCame } from "../../parts/undo.tsx";
import { When } from "../../parts/when.tsx";
import { counted, dollars, listed, scopeWords } from "../../parts/words.ts";
import { ReadEpisode } from "./read-episode.tsx";
import styles from "./runs.module.css";
import {
  durationWords,
  OUTCOME_WORDS,
  OUTCOMES,
  type Outcome,
  outcomeOf,
  outcomesOf,
  readerOf,
  reasonWords,
  STATE_WORDS,
} from "./words.ts";

export function RunPage() {
  const butler = useButler() ?? "";
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const { data, error, refetch } = useQuery(runQuery(butler, id));
  if (error) return <FailedPage name={`${butler} · Run`} error={error} again={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  return (
    <Page name={`${butler} · Run`} sentence={sentenceOf(data)} aside={<About run={data.run} butler={butler} />}>
      {data.run.error !== null && (
        <p className={styles.failed} role="note">
          <strong>▲ {STATE_WORDS[data.run.state]}.</strong> {data.run.error}
        </p>
      )}
      {data.run.state === "done" && <UndoWhatCame butler={butler} cause={{ run: data.run.id }} />}
      <Decisions answer={data} butler={butler} />
    </Page>
  );
}

function sentenceOf({ run }: ApiRun): string {
  const { learned, confirmed, superseded } = outcomesOf(run);
  const read = counted(run.episodes, "episode");
  if (run.state === "running") return `${read} ${run.episodes === 1 ? "is" : "are"} being read.`;
  if (run.state !== "done") return `${read} could not be learned from.`;
  const parts = [
    learned > 0 && `learned ${counted(learned, "memory")}`,
    confirmed > 0 && `confirmed ${confirmed}`,
    superseded > 0 && `changed ${superseded}`,
  ].filter((part) => part !== false);
  return `Read ${read} and ${parts.length === 0 ? "found nothing that lasts" : listed(parts)}.`;
}

function About({ run, butler }: { readonly run: ApiRun["run"]; readonly butler: string }) {
  const tokens = run.input_tokens + run.output_tokens;
  const parts: ReactNode[] = [
    STATE_WORDS[run.state],
    <When key="when" at={run.started_at} />,
    `read by ${readerOf(run)}`,
    run.duration_ms !== null && durationWords(run.duration_ms),
    tokens > 0 && counted(tokens, "token"),
    run.cost_usd === 0 ? "cost nothing" : dollars(run.cost_usd),
    run.scope !== butler && scopeWords(run.scope),
  ].filter((part) => part !== false);
  return (
    <div className={styles.aboutRun}>
      {parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their places.
        <span key={at}>{part}</span>
      ))}
      <ShortId id={run.id} />
      <A to={butlerPath(butler, "runs")}>all runs</A>
    </div>
  );
}

/** `?show=confirmed` and the like: only those. */
function useShown(): Outcome | undefined {
  const { show } = usePageSearch();
  return OUTCOMES.find((outcome) => outcome === show);
}

function Decisions({ answer, butler }: { readonly answer: ApiRun; readonly butler: string }) {
  const { run, decisions, dropped, episodes } = answer;
  const shown = useShown();
  const kept = decisions.filter(({ kind }) => shown === undefined || outcomeOf(kind) === shown);
  const ids = new Set(episodes.map(({ id }) => id));
  const alone = kept.filter((decision) => !decision.episodes.some((id) => ids.has(id)));
  const isUsed = ({ id }: { readonly id: string }) => kept.some((one) => one.episodes.includes(id));
  // What taught something comes first.
  const read = [...episodes.filter(isUsed), ...(shown === undefined ? episodes.filter((one) => !isUsed(one)) : [])];
  const gone = run.episodes - episodes.length;
  return (
    <>
      <Choice answer={answer} shown={shown} butler={butler} />
      {shown !== "nothing" && read.length > 0 && (
        <Section title="What was read, and what was made of it">
          {read.map((episode) => (
            <ReadEpisode
              key={episode.id}
              episode={episode}
              decisions={kept.filter((one) => one.episodes.includes(episode.id))}
              butler={butler}
            />
          ))}
        </Section>
      )}
      {shown !== "nothing" && alone.length > 0 && (
        <Section title="From episodes that are gone">
          <ReadEpisode episode={undefined} decisions={alone} butler={butler} />
        </Section>
      )}
      {gone > 0 && shown === undefined && (
        <p className={styles.about}>
          {counted(gone, "episode")} of this run {gone === 1 ? "is" : "are"} not kept any more: what was learned stays.
        </p>
      )}
      {(shown === undefined || shown === "nothing") && dropped.length > 0 && <Dropped dropped={dropped} />}
    </>
  );
}

function Choice({
  answer,
  shown,
  butler,
}: {
  readonly answer: ApiRun;
  readonly shown: Outcome | undefined;
  readonly butler: string;
}) {
  const { run, decisions, dropped } = answer;
  const to = butlerPath(butler, `runs/${encodeURIComponent(run.id)}`);
  const count = (outcome: Outcome) =>
    outcome === "nothing" ? dropped.length : decisions.filter(({ kind }) => outcomeOf(kind) === outcome).length;
  const some = OUTCOMES.filter((outcome) => count(outcome) > 0 || outcome === shown);
  if (some.length < 2 && shown === undefined) return null;
  return (
    <nav className={styles.tabs} aria-label="Which decisions">
      <A to={to} className={styles.tab} exact aria-current={shown === undefined ? "page" : undefined}>
        All
      </A>
      {some.map((outcome) => (
        <A
          key={outcome}
          to={to}
          search={{ show: outcome }}
          className={styles.tab}
          exact
          aria-current={shown === outcome ? "page" : undefined}
        >
          {OUTCOME_WORDS[outcome]} <span className={styles.count}>{count(outcome)}</span>
        </A>
      ))}
    </nav>
  );
}

function Dropped({ dropped }: { readonly dropped: ApiRun["dropped"] }) {
  const kinds = [...new Set(dropped.map(({ kind, reason }) => `${reason} ${kind}`))];
  return (
    <Section title="Found and not kept">
      <ul className={styles.dropped}>
        {kinds.map((key) => {
          const [reason = "", kind = ""] = key.split(" ");
          const n = dropped.filter((one) => one.reason === reason && one.kind === kind).length;
          return (
            <li key={key}>
              <strong>{counted(n, kind)}</strong> <span>{reasonWords(reason)}</span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
