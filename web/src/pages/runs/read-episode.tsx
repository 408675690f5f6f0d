/** An episode with the words that were used marked, beside what was decided from it. */
import { type ReactNode, useState } from "react";
import type { ApiRun } from "../../../../src/doors/http/api/types.ts";
import { A, butlerPath, memoryHref } from "../../frame/link.tsx";
import { State } from "../../parts/state.tsx";
import { Told } from "../../parts/told.tsx";
import { When } from "../../parts/when.tsx";
import { SAID_BY } from "../../parts/words.ts";
import styles from "./runs.module.css";
import { type Decision, kindWords } from "./words.ts";

interface ReadEpisodeParts {
  readonly episode: ApiRun["episodes"][number] | undefined;
  readonly decisions: readonly Decision[];
  readonly butler: string;
}

export function ReadEpisode({ episode, decisions, butler }: ReadEpisodeParts) {
  const [pointed, setPointed] = useState<string>();
  const chosen = decisions.filter(({ id }) => pointed === undefined || id === pointed);
  return (
    <article className={styles.read}>
      {episode !== undefined && (
        <div>
          <p className={styles.episode}>{marked(episode.content, new Set(chosen.flatMap(({ words }) => words)))}</p>
          <p className={styles.about}>
            {episode.speaker !== null && `${episode.speaker} · `}
            {SAID_BY[episode.trust] ?? episode.trust} · <When at={episode.occurred_at} /> ·{" "}
            <A to={memoryHref(butler, episode.id)}>the episode</A>
            {episode.session_id !== null && (
              <>
                {" "}
                · <A to={butlerPath(butler, `sessions/${encodeURIComponent(episode.session_id)}`)}>its session</A>
              </>
            )}
          </p>
        </div>
      )}
      <ul className={styles.decisions}>
        {decisions.length === 0 && <li className={styles.about}>Nothing that lasts.</li>}
        {decisions.map((decision) => (
          <li
            key={`${decision.kind} ${decision.id}`}
            onPointerEnter={() => setPointed(decision.id)}
            onPointerLeave={() => setPointed(undefined)}
            onFocus={() => setPointed(decision.id)}
            onBlur={() => setPointed(undefined)}
          >
            <span className={styles.kind}>{kindWords(decision.kind)}</span>
            <A to={memoryHref(butler, decision.id)} className={styles.decided} data-row>
              {decision.text === null ? (
                "(forgotten since)"
              ) : (
                <Told text={decision.text} isFact={decision.kind.endsWith("_fact")} />
              )}
            </A>
            {decision.state !== null && decision.state !== "active" && <State state={decision.state} />}
          </li>
        ))}
      </ul>
    </article>
  );
}

/** As the engine cuts a text into words. */
const WORD = /([\p{L}\p{N}][\p{L}\p{N}'’.-]*)/u;

/** Neighbouring words are one mark, with the space between them. */
function marked(text: string, words: ReadonlySet<string>): ReactNode[] {
  const parts: { text: string; isUsed: boolean }[] = [];
  const pieces = text.split(WORD);
  for (const [at, piece] of pieces.entries()) {
    const isBetween = at % 2 === 0;
    const isUsed = isBetween
      ? piece === " " && words.has(pieces[at - 1] ?? "") && words.has(pieces[at + 1] ?? "")
      : words.has(piece);
    const last = parts.at(-1);
    if (last?.isUsed === isUsed) last.text += piece;
    else parts.push({ text: piece, isUsed });
  }
  return parts.map((part, at) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text have no other name than their place.
    part.isUsed ? <mark key={at}>{part.text}</mark> : part.text,
  );
}
