/** The events of one memory as a vertical line, oldest first. */
import type { ApiMemory } from "../../../../src/doors/http/api/types.ts";
import { A, butlerPath } from "../../frame/link.tsx";
import { eventVerb, isUndoable } from "../../parts/events.ts";
import { UndoWhatCame } from "../../parts/undo.tsx";
import { When } from "../../parts/when.tsx";
import { actorWords, counted } from "../../parts/words.ts";
import styles from "./memory.module.css";

type LifeEvent = ApiMemory["life"][number];

interface LifeParts {
  readonly life: readonly LifeEvent[];
  readonly recalled: ApiMemory["recalled"];
  readonly butler: string;
}

export function Life({ life, recalled, butler }: LifeParts) {
  return (
    <ol className={styles.life} id="life">
      {life.map((event) => (
        <li key={event.id} data-event={event.event_type}>
          <strong>{eventVerb(event.event_type)}</strong> <When at={event.occurred_at} />
          <div className={styles.by}>
            by {actorWords(event.actor)}
            {event.session_id !== null && (
              <>
                {" "}
                in <A to={butlerPath(butler, `sessions/${encodeURIComponent(event.session_id)}`)}>a session</A>
              </>
            )}
            {event.request_id !== null && <span title={`Request ${event.request_id}`}> for a request</span>}
          </div>
          <Note event={event} />
          {isUndoable(event.event_type) && <UndoWhatCame butler={butler} cause={{ event: event.id }} isQuiet />}
        </li>
      ))}
      {recalled.times > 0 && (
        <li data-event="recalled">
          <strong>recalled {counted(recalled.times, "time")}</strong>
          {recalled.last_at !== null && (
            <>
              , last <When at={recalled.last_at} />
            </>
          )}
          {recalled.by.length > 0 && (
            <ul className={styles.by}>
              {recalled.by.map(({ session, day, n }) => (
                <li key={`${session} ${day}`}>
                  {day}: {counted(n, "time")} in{" "}
                  <A to={butlerPath(butler, `sessions/${encodeURIComponent(session)}`)}>a session</A>
                </li>
              ))}
            </ul>
          )}
        </li>
      )}
    </ol>
  );
}

/** The words that came with an event. */
function Note({ event: { payload } }: { readonly event: LifeEvent }) {
  const words = ["reason", "note", "error"].flatMap((key) =>
    typeof payload[key] === "string" ? [String(payload[key])] : [],
  );
  const { corrected_because } = (payload.metadata ?? {}) as { corrected_because?: unknown };
  if (typeof corrected_because === "string") words.push(corrected_because);
  return words.length === 0 ? null : <q className={styles.note}>{words.join(" · ")}</q>;
}
