import { A, butlerPath } from "../../frame/link.tsx";
import { When } from "../../parts/when.tsx";
import { dollars, scopeWords } from "../../parts/words.ts";
import styles from "./runs.module.css";
import { OUTCOME_WORDS, OUTCOMES, outcomesOf, type Run, readerOf, STATE_WORDS } from "./words.ts";

export function RunRow({ run, butler }: { readonly run: Run; readonly butler: string }) {
  const to = butlerPath(butler, `runs/${encodeURIComponent(run.id)}`);
  const outcomes = outcomesOf(run);
  const isDone = run.state === "done";
  return (
    <tr data-state={run.state}>
      <th scope="row" data-label="When">
        <A to={to} data-row>
          <When at={run.started_at} clock />
        </A>
        {!isDone && (
          <span className={styles.state} data-state={run.state}>
            {run.state === "failed" || run.state === "lost" ? "▲ " : ""}
            {STATE_WORDS[run.state]}
          </span>
        )}
        {run.error !== null && (
          <span className={styles.reason} data-state={run.state}>
            {run.error}
          </span>
        )}
      </th>
      <td data-label="Read by">
        <span>{readerOf(run)}</span>
        {run.scope !== butler && (
          <span className={styles.scope} title={run.scope}>
            {scopeWords(run.scope)}
          </span>
        )}
      </td>
      <td className={styles.number} data-label="Read">
        <A to={to}>{run.episodes.toLocaleString("en")}</A>
      </td>
      {OUTCOMES.map((outcome) => (
        <td key={outcome} className={styles.number} data-outcome={outcome} data-label={OUTCOME_WORDS[outcome]}>
          {isDone ? (
            outcomes[outcome] === 0 ? (
              <span className={styles.none}>0</span>
            ) : (
              <A to={to} search={{ show: outcome }}>
                {outcomes[outcome].toLocaleString("en")}
              </A>
            )
          ) : (
            <span className={styles.none} title="The run did not come to its end.">
              –
            </span>
          )}
        </td>
      ))}
      <td className={styles.number} data-label="Cost">
        {run.cost_usd === 0 ? <span className={styles.none}>nothing</span> : dollars(run.cost_usd)}
      </td>
    </tr>
  );
}
