/** Why did the agent say that: the memories nearest to its words, those that it was told before all others. */
import { useQuery } from "@tanstack/react-query";
import type { FormEvent } from "react";
import type { ApiSearch } from "../../../../src/doors/http/api/types.ts";
import { searchQuery } from "../../api/queries.ts";
import { A, memoryHref } from "../../frame/link.tsx";
import { usePageSearch, useSetSearch } from "../../frame/search-params.ts";
import { Section } from "../../parts/page.tsx";
import { State, Tag } from "../../parts/state.tsx";
import { counted, percent, predicateWords } from "../../parts/words.ts";
import styles from "./sessions.module.css";
import type { Tellings } from "./told.tsx";

type Result = ApiSearch["results"][number];

const MOST = 100;
const OTHERS = 5;

/** A turn of a conversation is also found for the turns beside it: by itself it is near by its words or its meaning. */
const NEAR_COSINE = 0.25;
const NEAR_FIT = 0.3;
const isNear = ({ explain: { fit, keyword_rank, cosine } }: Result): boolean =>
  fit >= NEAR_FIT && (keyword_rank !== null || (cosine ?? 0) >= NEAR_COSINE);

interface WhereFromParts {
  readonly butler: string;
  readonly told: Tellings;
}

export function WhereFrom({ butler, told }: WhereFromParts) {
  const { said = "" } = usePageSearch();
  const set = useSetSearch();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const words = new FormData(event.currentTarget).get("said");
    set({ said: typeof words === "string" && words.trim() !== "" ? words.trim() : undefined });
  };
  return (
    <Section title="Why did it say that?">
      <form className={styles.question} onSubmit={submit} key={said}>
        <label htmlFor="said">Words that the agent said</label>
        <div>
          <input id="said" name="said" type="search" defaultValue={said} maxLength={1_000} autoComplete="off" />
          <button type="submit">Where does this come from?</button>
        </div>
        <p className={styles.soft}>Or select words anywhere below.</p>
      </form>
      {said !== "" && <Answer butler={butler} told={told} said={said} />}
    </Section>
  );
}

function Answer({ butler, told, said }: WhereFromParts & { readonly said: string }) {
  // What was known when it was last told something: what was learned later cannot be the reason.
  const as_of = told.at(-1)?.at;
  const { data, error, isPlaceholderData } = useQuery(searchQuery(butler, { q: said, limit: MOST, as_of }));
  if (error) return <p role="alert">{error.message}</p>;
  if (data === undefined || isPlaceholderData) return <p role="status">Looking …</p>;
  // The state since then: the search tells the one of that moment.
  const states = new Map(told.flatMap(({ memories }) => memories.map(({ id, state }) => [id, state])));
  const near = data.results.filter(isNear).toSorted((left, right) => right.explain.fit - left.explain.fit);
  const own = near
    .filter(({ id }) => states.has(id))
    .map((result) => ({ ...result, state: states.get(result.id) ?? result.state }));
  const others = near.filter(({ id }) => !states.has(id)).slice(0, OTHERS);
  return (
    <div className={styles.found} aria-live="polite">
      <p>
        {own.length > 0 ? (
          <strong>
            {own.length === 1 ? "One memory" : counted(own.length, "memory")} that it was told{" "}
            {own.length === 1 ? "is" : "are"} near these words
            {own.length === 1 ? "." : ", the nearest first."}
          </strong>
        ) : (
          <>
            <strong>Nothing that it was told is near these words.</strong>{" "}
            {others.length > 0
              ? "It may have them from the conversation itself, from a tool, or from what the model knows."
              : "No other memory is near them either: they come from the conversation, a tool, or what the model knows."}
          </>
        )}
      </p>
      {own.length > 0 && <Near butler={butler} results={own} />}
      {own.length === 0 && others.length > 0 && (
        <>
          <h3>Known, but not told in this session</h3>
          <Near butler={butler} results={others} />
        </>
      )}
      {own.length > 0 && others.length > 0 && (
        <details className={styles.others}>
          <summary>{counted(others.length, "memory")} near them, known, but not told in this session</summary>
          <Near butler={butler} results={others} />
        </details>
      )}
      {data.degraded !== undefined && <p className={styles.soft}>{data.degraded}</p>}
    </div>
  );
}

function Near({ butler, results }: { readonly butler: string; readonly results: readonly Result[] }) {
  return (
    <ol className={styles.near}>
      {results.map(({ id, type, subject, predicate, content, state, warning, explain }) => (
        <li key={id} data-state={state}>
          <span className={styles.how} title={howNear(explain)}>
            <svg viewBox="0 0 60 6" aria-hidden="true">
              <rect width="60" height="6" rx="3" className={styles.track} />
              <rect width={60 * Math.min(1, explain.fit)} height="6" rx="3" className={styles.fill} />
            </svg>
            {percent(explain.fit)} near
          </span>
          <A to={memoryHref(butler, id)} data-row>
            {type === "fact" && `${subject} · ${predicateWords(predicate ?? "")}: `}
            {content}
          </A>
          <span>
            <Tag>{warning ? "warning" : type}</Tag> {state !== "active" && <State state={state} />}
          </span>
        </li>
      ))}
    </ol>
  );
}

function howNear({ keyword_rank, semantic_rank, cosine }: Result["explain"]): string {
  const words = keyword_rank === null ? "shares none of the words" : `place ${keyword_rank} by words`;
  const meaning =
    semantic_rank === null
      ? "not near in meaning"
      : `place ${semantic_rank} by meaning (cosine ${(cosine ?? 0).toFixed(2)})`;
  return `${words}, ${meaning}`;
}
