import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiFact } from "../../../../src/doors/http/api/types.ts";
import { memoryQuery } from "../../api/queries.ts";
import { A, memoryHref } from "../../frame/link.tsx";
import { Confidence } from "../../parts/confidence.tsx";
import { State } from "../../parts/state.tsx";
import { useNow, When } from "../../parts/when.tsx";
import { counted, PERMANENCE_WORDS, predicateWords, scopeWords } from "../../parts/words.ts";
import styles from "./facts.module.css";

interface FactLineParts {
  readonly fact: ApiFact;
  readonly butler: string;
  /** The moment that is looked at, if it is not now. */
  readonly at: string | undefined;
  /** Without a heading above that names its subject. */
  readonly isAlone: boolean;
}

export function FactLine({ fact, butler, at, isAlone }: FactLineParts) {
  const now = useNow();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className={styles.fact} data-state={fact.state}>
      <A to={memoryHref(butler, fact.id)} className={styles.text} data-row>
        <span className={styles.predicate}>
          {isAlone && `${fact.subject} · `}
          {predicateWords(fact.predicate)}
        </span>
        <span className={styles.content}>{fact.content ?? "(forgotten)"}</span>
      </A>
      <div className={styles.aside}>
        <div className={styles.about}>
          {fact.contradicted && <span className={styles.doubt}>contradicted</span>}
          {fact.state !== "active" && <State state={fact.state} />}
          {fact.waits_until !== null && (
            <span>
              begins <When at={fact.waits_until} />
            </span>
          )}
          {fact.scope.includes("/") && <span title={fact.scope}>{scopeWords(fact.scope)}</span>}
          {fact.replaced > 0 && (
            <button type="button" className={styles.more} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {counted(fact.replaced, "earlier value")}
            </button>
          )}
          <span title="Episodes that it was learned from or that say the same">
            {fact.sources === 0 ? "told directly" : counted(fact.sources, "source")}
          </span>
          <span title={PERMANENCE_WORDS[fact.permanence]}>{fact.permanence}</span>
        </div>
        <Confidence of={fact} from={at === undefined ? now : Date.parse(at)} />
      </div>
      {isOpen && <Chain butler={butler} id={fact.id} />}
    </div>
  );
}

/** What held before, as a timeline. */
export function Chain({ butler, id }: { readonly butler: string; readonly id: string }) {
  const { data } = useQuery(memoryQuery(butler, id));
  if (data === undefined) return <p className={styles.chain}>Loading …</p>;
  return (
    <ol className={styles.chain} aria-label="Values over time, oldest first">
      {data.chain.map((one) => (
        <li key={one.id} data-state={one.state} aria-current={one.id === id}>
          <A to={memoryHref(butler, one.id)}>{one.content ?? "(forgotten)"}</A>{" "}
          <span>
            since <When at={one.created_at} />
            {one.superseded_at !== null && (
              <>
                , until <When at={one.superseded_at} />
              </>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}
