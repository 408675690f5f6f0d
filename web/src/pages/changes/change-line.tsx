/** One memory, before and after. */
import { A, memoryHref } from "../../frame/link.tsx";
import { eventVerb } from "../../parts/events.ts";
import { Tag } from "../../parts/state.tsx";
import { factValue, Told } from "../../parts/told.tsx";
import { When } from "../../parts/when.tsx";
import { percent } from "../../parts/words.ts";
import styles from "./changes.module.css";
import type { Change } from "./groups.ts";

export function ChangeLine({ change, butler }: { readonly change: Change; readonly butler: string }) {
  const { id, type, at, events, before, after, replacement } = change;
  const now = replacement?.after ?? after;
  const isOtherText = before !== null && now?.text !== before.text && now?.text !== null;
  const isGone = replacement === undefined && now !== null && now.state !== "active" && now.state !== "fading";
  return (
    <A to={memoryHref(butler, replacement?.id ?? id)} className={styles.line} data-row>
      <span className={styles.text}>
        {isOtherText && (
          <>
            <s className={styles.was}>
              <span className="visually-hidden">before: </span>
              <Words text={before.text} type={type} />
            </s>{" "}
            <span aria-hidden="true">→</span> <span className="visually-hidden">after: </span>
          </>
        )}
        <span data-gone={isGone || undefined}>
          {isOtherText && type === "fact" && replacement !== undefined ? (
            factValue(now?.text ?? "")
          ) : (
            <Words text={now?.text ?? before?.text ?? null} type={type} />
          )}
        </span>
      </span>
      <span className={styles.aside}>
        <Tag>{type}</Tag>
        <span>{differenceOf(change)}</span>
        <span>
          {replacement === undefined ? eventWords(events) : "replaced"} <When at={at} />
        </span>
      </span>
    </A>
  );
}

const Words = ({ text, type }: { readonly text: string | null; readonly type: Change["type"] }) =>
  text === null ? "(forgotten)" : <Told text={text} isFact={type === "fact"} />;

const eventWords = (events: readonly string[]): string => [...new Set(events.map(eventVerb))].join(", ");

function differenceOf({ before, after, replacement }: Change): string | undefined {
  if (replacement !== undefined || after === null) return undefined;
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
