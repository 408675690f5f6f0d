/** How episodes became facts and rules: a table of runs, what the day has cost, and what nobody could learn from. */
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiRuns } from "../../../../src/doors/http/api/types.ts";
import { deadLettersQuery, runsQuery } from "../../api/queries.ts";
import { A, butlerPath, useButler } from "../../frame/link.tsx";
import { usePageSearch } from "../../frame/search-params.ts";
import { Button } from "../../parts/actions.tsx";
import { Chips, type Filter } from "../../parts/chips.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Page } from "../../parts/page.tsx";
import { Spend } from "../../parts/spend.tsx";
import { counted } from "../../parts/words.ts";
import { DeadLetters } from "./dead-letters.tsx";
import { RunRow } from "./run-row.tsx";
import styles from "./runs.module.css";
import { OUTCOME_WORDS, OUTCOMES, outcomesOf, STATE_WORDS } from "./words.ts";

const FILTERS: readonly Filter[] = [
  { key: "state", label: "state", unset: "all", options: Object.entries(STATE_WORDS) },
];

const LETTERS = "dead-letters";

export function RunsPage() {
  const butler = useButler() ?? "";
  const { show, state } = usePageSearch();
  const runs = useInfiniteQuery(runsQuery(butler, { state }));
  const letters = useInfiniteQuery(deadLettersQuery(butler));
  const isLetters = show === LETTERS;
  const found = letters.data?.pages.flatMap((page) => page.letters);
  const count = found === undefined ? undefined : `${found.length}${letters.hasNextPage ? "+" : ""}`;
  const rows = runs.data?.pages.flatMap((page) => page.runs);
  return (
    <Page
      name={`${butler} · Runs`}
      sentence={
        isLetters ? lettersSentence(found?.length, letters.hasNextPage) : runsSentence(rows, runs.hasNextPage, state)
      }
      aside={runs.data?.pages[0] && <Spend spend={runs.data.pages[0].spend} />}
    >
      <nav className={styles.tabs} aria-label="Runs or dead letters">
        <Tab to={butlerPath(butler, "runs")} isChosen={!isLetters}>
          Runs
        </Tab>
        <Tab to={butlerPath(butler, "runs")} show={LETTERS} isChosen={isLetters}>
          Dead letters <span className={styles.count}>{count ?? "…"}</span>
        </Tab>
      </nav>
      {isLetters ? <DeadLetters butler={butler} found={letters} /> : <Runs butler={butler} found={runs} rows={rows} />}
    </Page>
  );
}

interface TabParts {
  readonly to: string;
  readonly show?: string;
  readonly isChosen: boolean;
  readonly children: ReactNode;
}

const Tab = ({ to, show, isChosen, children }: TabParts) => (
  <A to={to} search={{ show }} className={styles.tab} exact aria-current={isChosen ? "page" : undefined}>
    {children}
  </A>
);

function lettersSentence(n: number | undefined, hasMore: boolean): string {
  if (n === undefined) return "What nobody could learn from.";
  if (n === 0) return "Nothing was given up.";
  return `${hasMore ? "More than " : ""}${counted(n, "episode")} could not be learned from.`;
}

function runsSentence(
  rows: readonly ApiRuns["runs"][number][] | undefined,
  hasMore: boolean,
  state: string | undefined,
): string {
  if (rows === undefined) return "How episodes become facts and rules.";
  if (rows.length === 0) return state === undefined ? "Nothing has been read yet." : "No run is like that.";
  const done = rows.filter((run) => run.state === "done");
  const read = done.reduce((sum, { episodes }) => sum + episodes, 0);
  const learned = done.reduce((sum, run) => sum + outcomesOf(run).learned, 0);
  const last = hasMore ? "The last " : "";
  const rest = rows.length - done.length;
  if (done.length === 0) return `${last}${counted(rows.length, "run")}, none of which came to its end.`;
  return `${last}${counted(done.length, "run")} read ${counted(read, "episode")} and learned ${
    learned === 0 ? "nothing" : counted(learned, "memory")
  }${rest === 0 ? "" : `; ${rest} did not come to ${rest === 1 ? "its" : "their"} end`}.`;
}

interface RunsParts {
  readonly butler: string;
  readonly rows: ApiRuns["runs"] | undefined;
  readonly found: {
    readonly error: Error | null;
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
    readonly refetch: () => unknown;
  };
}

function Runs({ butler, rows, found }: RunsParts) {
  const { state } = usePageSearch();
  if (found.error) return <Failure error={found.error} again={() => void found.refetch()} />;
  if (rows === undefined) return <Loading />;
  return (
    <>
      {(rows.length > 0 || state !== undefined) && <Chips filters={FILTERS} />}
      {rows.length === 0 && state === undefined && (
        <Empty says="Episodes are read every few hours, or at once:">
          <Command text={`butler job run consolidate --butler ${butler}`} />
        </Empty>
      )}
      {rows.length > 0 && (
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Read by</th>
              <th scope="col" className={styles.number}>
                Read
              </th>
              {OUTCOMES.map((outcome) => (
                <th key={outcome} scope="col" className={styles.number}>
                  {OUTCOME_WORDS[outcome]}
                </th>
              ))}
              <th scope="col" className={styles.number}>
                Cost
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((run) => (
              <RunRow key={run.id} run={run} butler={butler} />
            ))}
          </tbody>
        </table>
      )}
      {found.hasNextPage && (
        <p className={styles.more}>
          <Button onClick={() => void found.fetchNextPage()}>
            {found.isFetchingNextPage ? "Loading …" : "Earlier runs"}
          </Button>
        </p>
      )}
    </>
  );
}
