/** How large the store is, and how quickly it answers. */
import type { ApiHealth } from "../../../../src/doors/http/api/types.ts";
import { A, butlerPath } from "../../frame/link.tsx";
import type { PageSearch } from "../../frame/search-params.ts";
import { compact, counted } from "../../parts/words.ts";
import styles from "./health.module.css";
import { bytesWords, millisecondsWords } from "./words.ts";

interface SizesParts {
  readonly sizes: NonNullable<ApiHealth["sizes"]>;
  readonly pool: ApiHealth["pool"];
  readonly butler: string;
}

/** The tables in words, with the page that shows their rows where there is one. */
const TABLES: readonly (readonly [table: string, words: string, page?: string, search?: PageSearch])[] = [
  ["facts", "facts", "facts", { state: "all" }],
  ["rules", "rules", "rules"],
  ["episodes", "episodes", "episodes"],
  ["memory_events", "events", "activity", { everything: "true" }],
  ["consolidation_runs", "runs", "runs"],
  ["memory_links", "links between memories"],
  ["embeddings", "vectors"],
  ["lex_doc", "texts in the word index"],
  ["lex_block", "blocks of the word index"],
  ["job_runs", "runs of jobs"],
];

export function Sizes({ sizes, pool, butler }: SizesParts) {
  const known = TABLES.filter(([table]) => sizes.rows[table] !== undefined);
  const states = Object.entries(sizes.facts);
  return (
    <>
      <dl className={styles.numbers}>
        <div>
          <dt>in all</dt>
          <dd>{bytesWords(sizes.database_bytes)}</dd>
        </div>
        <div>
          <dt>of it indexes</dt>
          <dd>{bytesWords(sizes.index_bytes)}</dd>
        </div>
        {pool !== null && (
          <div>
            <dt>connections in use, of at most {pool.max}</dt>
            <dd>
              {pool.in_use}
              {pool.waiting > 0 && `, ${counted(pool.waiting, "call")} waiting`}
            </dd>
          </div>
        )}
        {known.map(([table, words, page, search]) => {
          const rows = sizes.rows[table] ?? 0;
          return (
            <div key={table}>
              <dt>{words}</dt>
              <dd title={rows > 100_000 ? "An estimate" : undefined}>
                {page === undefined ? (
                  compact(rows)
                ) : (
                  <A to={butlerPath(butler, page)} search={search}>
                    {compact(rows)}
                  </A>
                )}
              </dd>
            </div>
          );
        })}
      </dl>
      {states.length > 0 && (
        <p className={styles.states}>
          Facts by state:{" "}
          {states.map(([state, n], at) => (
            <span key={state}>
              {at > 0 && ", "}
              <A to={butlerPath(butler, "facts")} search={{ state }}>
                {n.toLocaleString("en")} {state === "retracted" ? "forgotten" : state}
              </A>
            </span>
          ))}
        </p>
      )}
    </>
  );
}

export function Latency({ latency }: { readonly latency: ApiHealth["latency"] }) {
  if (latency.length === 0) return <p className={styles.soft}>No agent has asked anything in this time.</p>;
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">Tool</th>
          <th scope="col">Calls</th>
          <th scope="col">Failed</th>
          <th scope="col">Half within</th>
          <th scope="col">19 of 20 within</th>
        </tr>
      </thead>
      <tbody>
        {latency
          .toSorted((a, b) => b.calls - a.calls)
          .map(({ tool, calls, failed, p50_ms, p95_ms }) => (
            <tr key={tool}>
              <th scope="row">{tool}</th>
              <td data-label="calls">{calls.toLocaleString("en")}</td>
              <td data-label="failed" data-bad={failed > 0 || undefined}>
                {failed > 0 ? `▲ ${failed.toLocaleString("en")}` : 0}
              </td>
              <td data-label="half within">{millisecondsWords(p50_ms)}</td>
              <td data-label="19 of 20 within">{millisecondsWords(p95_ms)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

export const Unknown = ({ what }: { readonly what: string }) => (
  <p className={styles.soft}>
    <span aria-hidden="true">○</span> {what} unknown: the store does not say.
  </p>
);
