/** Whether an episode was learned from, and what it taught. */
import type { ReactNode } from "react";
import type { ApiEpisode } from "../../../../src/doors/http/api/types.ts";
import { A, butlerPath, memoryHref } from "../../frame/link.tsx";
import { State } from "../../parts/state.tsx";
import { Told } from "../../parts/told.tsx";
import { When } from "../../parts/when.tsx";
import { counted } from "../../parts/words.ts";
import styles from "./episodes.module.css";

interface Of {
  readonly episode: ApiEpisode;
  readonly butler: string;
}

export function Learning({ episode, butler }: Of) {
  return (
    <div className={styles.learning}>
      <p data-status={episode.consolidation.status}>{standing({ episode, butler })}</p>
      {episode.taught.length > 0 && (
        <ul>
          {episode.taught.map(({ id, type, text, state, relation }) => (
            <li key={id} data-state={state}>
              <span>{relation === "supports" ? "says again" : type}</span>{" "}
              <A to={memoryHref(butler, id)}>
                {text === null ? "(forgotten)" : <Told text={text} isFact={type === "fact"} />}
              </A>{" "}
              {state !== "active" && <State state={state} />}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function standing({ episode, butler }: Of): ReactNode {
  const { status, attempts, error, retry_at } = episode.consolidation;
  const reason = error === null ? "" : `: ${error}`;
  const again = retry_at !== null && (
    <>
      ; tried again <When at={retry_at} />
    </>
  );
  if (status === "consolidated")
    return episode.taught.length > 0 ? "learned from:" : "learned from: nothing lasting was in it";
  if (status === "pending")
    return (
      <>
        waits to be learned from{reason}
        {again}
      </>
    );
  if (status === "failed")
    return (
      <>
        could not be learned from{reason}
        {again}
      </>
    );
  return (
    <>
      given up after {counted(attempts, "attempt")}
      {reason} ·{" "}
      <A to={butlerPath(butler, "runs")} search={{ show: "dead-letters" }}>
        send again
      </A>
    </>
  );
}
