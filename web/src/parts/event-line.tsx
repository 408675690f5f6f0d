/** One thing that happened, in a line that leads to its memory. */
import type { ApiEvent } from "../../../src/doors/http/api/types.ts";
import { A, butlerPath, memoryHref } from "../frame/link.tsx";
import styles from "./event-line.module.css";
import { eventVerb, isReplacement } from "./events.ts";
import { factValue, Told } from "./told.tsx";
import { When } from "./when.tsx";
import { actorWords, percent, SAID_BY } from "./words.ts";

interface EventLineParts {
  readonly event: ApiEvent;
  readonly butler: string;
  /** Where several butlers are shown. */
  readonly named?: boolean;
  /** What else happened to this memory before, on the same day. */
  readonly earlier?: readonly ApiEvent[];
}

/** Each memory once, by its newest event. */
export function byMemory<E extends ApiEvent>(events: readonly E[]): { readonly event: E; readonly earlier: E[] }[] {
  const all = new Map<string, { readonly event: E; readonly earlier: E[] }>();
  for (const event of events) {
    const known = all.get(event.entity_id);
    if (known === undefined) all.set(event.entity_id, { event, earlier: [] });
    else known.earlier.push(event);
  }
  return [...all.values()];
}

const verbOf = (event: ApiEvent): string => (isReplacement(event) ? "changed" : eventVerb(event.event_type));

export function EventLine({ event, butler, named = false, earlier = [] }: EventLineParts) {
  const { memory, entity_type, entity_id, occurred_at } = event;
  const replaced = event.replaced ?? earlier.find((one) => one.replaced !== undefined)?.replaced;
  const isMemory = memory !== undefined || ["fact", "rule", "episode"].includes(entity_type);
  const verbs = [...new Set([...earlier.toReversed(), event].map(verbOf))].join(", ");
  const body = (
    <>
      <span className={styles.text} data-state={memory?.state}>
        {memory?.text === undefined ? (
          goneWords(memory?.state, entity_type)
        ) : (
          <Told text={memory.text} isFact={memory.type === "fact"} />
        )}
        {replaced?.text !== undefined && <span className={styles.was}> (was {factValue(replaced.text)})</span>}
      </span>
      <span className={styles.aside}>
        {named && <span className={styles.butler}>{butler}</span>}
        <span>
          {entity_type} · {verbs} · <When at={occurred_at} clock />
        </span>
        <span className={styles.by}>{saidBy(event)}</span>
      </span>
    </>
  );
  const to = isMemory ? memoryHref(butler, entity_id) : runOf(event, butler);
  if (to === undefined) return <div className={styles.line}>{body}</div>;
  return (
    <A to={to} className={styles.line} data-row>
      {body}
    </A>
  );
}

const goneWords = (state: string | undefined, type: string): string =>
  state === "retracted" ? "(forgotten)" : type === "consolidation" ? "A run of learning" : type;

/** The ends of runs; what else is told of learning has no page of its own. */
const RUN = /^consolidation\.(done|failed|released|lost)$/;

const runOf = ({ event_type, entity_id }: ApiEvent, butler: string): string | undefined =>
  RUN.test(event_type) ? butlerPath(butler, `runs/${encodeURIComponent(entity_id)}`) : undefined;

/** An agent that learns by itself is named with the token that it used. */
const readerWords = (by: string): string => (by.startsWith("agent/") ? "an agent" : (by.split(" ")[0] ?? by));

function saidBy({ memory, actor }: ApiEvent): string {
  const { learned, trust } = memory ?? {};
  if (learned?.by === undefined) return actorWords(actor);
  const sure = learned.sureness === undefined ? "" : `, ${percent(learned.sureness)} sure`;
  return `${SAID_BY[trust ?? ""] ?? ""} · read by ${readerWords(learned.by)}${sure}${learned.hint ? " (a hint)" : ""}`;
}
