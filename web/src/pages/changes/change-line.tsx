/** One memory, before and after. */
import { A, memoryHref } from "../../frame/link.tsx";
import { eventVerb } from "../../parts/events.ts";
import { Tag } from "../../parts/state.tsx";
import { factValue } from "../../parts/told.tsx";
import { When } from "../../parts/when.tsx";
import { percent, predicateWords } from "../../parts/words.ts";
import styles from "./changes.module.css";
import type { Change } from "./groups.ts";

export function ChangeLine({ change, butler }: { readonly change: Change; readonly butler: string }) {
  const { id, at, events, replacement, type } = change;
  const difference = differenceOf(change);
  return (
    <A to={memoryHref(butler, replacement?.id ?? id)} className={styles.line} data-row>
      <span className={styles.text}>
        <Texts change={change} />
      </span>
      <span className={styles.aside}>
        <Tag>{type}</Tag>
        {difference !== "" && <span>{difference}</span>}
        <span>
          {replacement === undefined ? eventWords(events) : "replaced"} <When at={at} />
        </span>
      </span>
    </A>
  );
}

/** The value before and the value after; of a fact what it is about stands once, before both. */
function Texts({ change: { type, before, after, replacement } }: { readonly change: Change }) {
  const now = replacement?.after ?? after;
  const text = now?.text ?? before?.text ?? null;
  if (text === null) return "(forgotten)";
  const isFact = type === "fact";
  const isGone = replacement === undefined && now !== null && now.state !== "active" && now.state !== "fading";
  const was = before?.text != null && before.text !== text ? before.text : undefined;
  const value = (words: string) => (isFact ? factValue(words) : words);
  return (
    <>
      {isFact && value(text) !== text && <span className={styles.key}>{factKey(text)} </span>}
      {was !== undefined && (
        <>
          <span className="visually-hidden">before: </span>
          <s>{value(was)}</s> <span aria-hidden="true">→</span> <span className="visually-hidden">after: </span>
        </>
      )}
      {isGone ? <s>{value(text)}</s> : value(text)}
    </>
  );
}

const factKey = (text: string): string => predicateWords(text.slice(0, text.indexOf(": ")));

const eventWords = (events: readonly string[]): string => [...new Set(events.map(eventVerb))].join(", ");

function differenceOf({ before, after, replacement }: Change): string {
  if (replacement !== undefined || after === null) return "";
  const parts = [];
  if (before?.maturity !== after.maturity && before !== null)
    parts.push(`${maturityWords(before.maturity)} → ${maturityWords(after.maturity)}`);
  if (before !== null) {
    const [was, is] = [percent(before.effective_confidence), percent(after.effective_confidence)];
    if (was !== is) parts.push(`${was} → ${is} sure`);
  } else parts.push(`${percent(after.effective_confidence)} sure`);
  return parts.join(", ");
}

const maturityWords = (maturity: string | undefined): string =>
  maturity === "anti_pattern" ? "warning" : (maturity ?? "not known");
