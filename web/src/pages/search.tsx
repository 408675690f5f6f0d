/** One search over episodes, facts and rules, with the numbers behind each result. */
import { useQuery } from "@tanstack/react-query";
import type { ApiSearch } from "../../../src/doors/http/api/types.ts";
import { fleetSearchQuery, searchQuery } from "../api/queries.ts";
import { endOf, useDay } from "../frame/as-of.ts";
import { A, memoryHref, useButler } from "../frame/link.tsx";
import { usePageSearch } from "../frame/search-params.ts";
import { Chips, type Filter } from "../parts/chips.tsx";
import { Empty } from "../parts/empty.tsx";
import { Failure } from "../parts/failure.tsx";
import { Loading } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { State, Tag } from "../parts/state.tsx";
import { When } from "../parts/when.tsx";
import { counted, percent, predicateWords, SAID_BY, scopeWords } from "../parts/words.ts";
import styles from "./search.module.css";

type Result = ApiSearch["results"][number] & { readonly of?: string };

const FILTERS: readonly Filter[] = [
  {
    key: "type",
    label: "in",
    unset: "everything",
    options: ["fact", "rule", "episode"].map((type) => [type, `${type}s`]),
  },
  {
    key: "mode",
    label: "by",
    unset: "words and meaning",
    options: [
      ["keyword", "words"],
      ["semantic", "meaning"],
    ],
  },
];

function useAsked() {
  const { q = "", type, mode } = usePageSearch();
  return { q: q.trim(), type, mode };
}

export function SearchPage() {
  const butler = useButler() ?? "";
  const as_of = endOf(useDay());
  const asked = useAsked();
  const { data, error, refetch } = useQuery({ ...searchQuery(butler, { ...asked, as_of }), enabled: asked.q !== "" });
  return <Results butler={butler} asked={asked.q} data={data} error={error} again={() => void refetch()} />;
}

export function FleetSearchPage() {
  const asked = useAsked();
  const { data, error, refetch } = useQuery({ ...fleetSearchQuery(asked), enabled: asked.q !== "" });
  const silent = data?.silent.map(({ name, reason }) => `${name} did not answer. ${reason}`) ?? [];
  return (
    <Results butler={undefined} asked={asked.q} data={data} error={error} again={() => void refetch()} notes={silent} />
  );
}

interface ResultsParts {
  readonly butler: string | undefined;
  readonly asked: string;
  readonly data: { readonly results: readonly Result[]; readonly degraded?: string | undefined } | undefined;
  readonly error: Error | null;
  readonly again: () => void;
  readonly notes?: readonly string[];
}

function Results({ butler, asked, data, error, again, notes = [] }: ResultsParts) {
  const name = `${butler ?? "All butlers"} · Search`;
  if (asked === "")
    return (
      <Page name={name} sentence="Search everything that is remembered.">
        <Empty says="Write a question or some words into the field above; the key / goes there." />
      </Page>
    );
  const sentence =
    data === undefined
      ? "Searching …"
      : data.results.length === 0
        ? `Nothing fits “${asked}”.`
        : `${counted(data.results.length, "memory")} for “${asked}”.`;
  return (
    <Page
      name={name}
      sentence={sentence}
      aside={[...notes, ...(data?.degraded ? [data.degraded] : [])].join(" ") || undefined}
    >
      <Chips filters={FILTERS} />
      {error && <Failure error={error} again={again} />}
      {data === undefined && !error && <Loading />}
      {data?.results.map((result) => (
        <ResultLine key={`${result.of}${result.id}`} result={result} butler={result.of ?? butler ?? ""} />
      ))}
      {data?.results.length === 0 && (
        <Empty says="What fits a question too little is not shown. Other words may find it, or one of the lists." />
      )}
    </Page>
  );
}

function ResultLine({ result, butler }: { readonly result: Result; readonly butler: string }) {
  const { type, id, content, subject, predicate, state, warning, scope, trust, of } = result;
  return (
    <article className={styles.result}>
      <A to={memoryHref(butler, id)} className={styles.text} data-row>
        {type === "fact" && (
          <span className={styles.key}>
            {subject} · {predicateWords(predicate ?? "")}
          </span>
        )}
        <span className={styles.content}>{content}</span>
      </A>
      <div className={styles.aside}>
        {of !== undefined && <Tag>{of}</Tag>}
        <Tag>{warning ? "warning" : type}</Tag>
        {state !== "active" && <State state={state} />}
        {trust !== undefined && <span>{SAID_BY[trust] ?? trust}</span>}
        <span title={scope}>{scopeWords(scope)}</span>
        <When at={result.occurred_at ?? result.created_at} />
        <Why result={result} />
      </div>
    </article>
  );
}

function Why({
  result: { explain, relevance, importance, recency, effective_confidence, score },
}: {
  readonly result: Result;
}) {
  return (
    <details className={styles.why}>
      <summary>fits {percent(explain.fit)}</summary>
      <dl>
        <Fact
          name="place by words"
          value={explain.keyword_rank === null ? "not found by words" : `${explain.keyword_rank}.`}
        />
        <Fact
          name="place by meaning"
          value={
            explain.semantic_rank === null
              ? "not near in meaning"
              : `${explain.semantic_rank}. (cosine ${(explain.cosine ?? 0).toFixed(2)})`
          }
        />
        <Fact name="relevance among the candidates" value={relevance.toFixed(2)} />
        <Fact name="importance" value={importance.toFixed(1)} />
        <Fact name="recency" value={recency.toFixed(2)} />
        <Fact name="sure now" value={percent(effective_confidence)} />
        <Fact name="score" value={score.toFixed(3)} />
        {Object.entries(explain.signals ?? {}).map(([signal, { scaled, weight }]) => (
          <Fact key={signal} name={signal.replaceAll("_", " ")} value={`${scaled.toFixed(2)} × ${weight}`} />
        ))}
      </dl>
    </details>
  );
}

const Fact = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);
