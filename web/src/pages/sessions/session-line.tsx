import { A, butlerPath } from "../../frame/link.tsx";
import { When } from "../../parts/when.tsx";
import { counted, shortId } from "../../parts/words.ts";
import { type Session, STATE_MEANS, sessionHref, sessionWords, toldWords } from "./session-words.ts";
import styles from "./sessions.module.css";

export function SessionLine({ session, butler }: { readonly session: Session; readonly butler: string }) {
  const { key, id, session_id, project, prompt, at } = session;
  return (
    <article className={styles.line}>
      <A to={sessionHref(butler, key ?? id)} className={styles.name} title={project} data-row>
        <strong>{sessionWords(session)}</strong>
        {prompt !== undefined && <span className={styles.prompt}>{prompt}</span>}
        <span className={styles.told}>
          {toldWords(session)} · <span className={styles.id}>{shortId(session_id)}</span>
        </span>
      </A>
      <div className={styles.aside}>
        <When at={at} />
        <Standing session={session} />
        {session.episodes === undefined ? (
          <A to={butlerPath(butler, "episodes")} search={{ session: session_id }}>
            its episodes
          </A>
        ) : (
          <A to={butlerPath(butler, "episodes")} search={{ session: session_id }}>
            {counted(session.episodes, "episode")}
          </A>
        )}
      </div>
    </article>
  );
}

const SIGNS: Readonly<Record<Session["state"], string>> = { running: "●", done: "✓", failed: "▲", lost: "○" };

export function Standing({ session: { state } }: { readonly session: Session }) {
  return (
    <span className={styles.standing} data-state={state} title={STATE_MEANS[state]}>
      <span aria-hidden>{SIGNS[state]}</span> {state}
    </span>
  );
}
