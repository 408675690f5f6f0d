import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiEpisode } from "../../../../src/doors/http/api/types.ts";
import { memoryQuery } from "../../api/queries.ts";
import { A, memoryHref } from "../../frame/link.tsx";
import { Actions } from "../../parts/actions.tsx";
import { More } from "../../parts/more.tsx";
import { State } from "../../parts/state.tsx";
import { When } from "../../parts/when.tsx";
import { scopeWords } from "../../parts/words.ts";
import styles from "./episodes.module.css";
import { Learning } from "./learning.tsx";
import { Tier } from "./tier.tsx";

interface EpisodeLineParts {
  readonly episode: ApiEpisode;
  readonly butler: string;
  /** An earlier day is looked at: nothing is changed then. */
  readonly isPast: boolean;
}

/** Characters and lines that fit into what is shown of a closed one. */
const SHORT = 300;
const LINES = 4;

export function EpisodeLine({ episode, butler, isPast }: EpisodeLineParts) {
  const [isWhole, setWhole] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const { id, content, length, speaker, state } = episode;
  const isLong = length > SHORT || (content?.split("\n").length ?? 0) > LINES;
  return (
    <article className={styles.episode} data-state={state}>
      <div className={styles.body}>
        {speaker !== null && <span className={styles.speaker}>{speaker}</span>}
        <p className={styles.text} data-whole={isWhole || !isLong}>
          {isWhole ? <Whole episode={episode} butler={butler} /> : (content ?? "(forgotten)")}
        </p>
        {isLong && content !== null && (
          <button type="button" className={styles.open} aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? "Show less" : `Show the whole (${length.toLocaleString("en")} characters)`}
          </button>
        )}
        <Learning episode={episode} butler={butler} />
      </div>
      <div className={styles.aside}>
        <A to={memoryHref(butler, id)} data-row title="This episode on its own page">
          <When at={episode.occurred_at} clock />
        </A>
        <Tier of={episode} />
        {state !== "active" && <State state={state} />}
        {episode.scope !== butler && <span title={episode.scope}>{scopeWords(episode.scope)}</span>}
        {episode.tags.length > 0 && (
          <span className={styles.tags}>
            {episode.tags.map((tag) => (
              <span key={tag}>#{tag}</span>
            ))}
          </span>
        )}
      </div>
      {!isPast && <More of="episode" isOpen={isOpen} toggle={() => setOpen(!isOpen)} />}
      {isOpen && (
        <div className={styles.actions}>
          <Actions butler={butler} memory={{ type: "episode", id, state, content }} />
        </div>
      )}
    </article>
  );
}

/** The list has the beginning of a long one; the rest is asked for when it is opened. */
function Whole({ episode: { id, content, length }, butler }: Omit<EpisodeLineParts, "isPast">) {
  const isCut = content !== null && content.length < length;
  const { data } = useQuery({ ...memoryQuery(butler, id), enabled: isCut });
  return data?.memory.content ?? (isCut ? `${content} …` : content);
}
