/** What a search for the prompt finds and the block does not hold, by the first gate that kept it out. */
import type { ApiPreview } from "../../../../src/doors/http/api/types.ts";
import { A, memoryHref } from "../../frame/link.tsx";
import { Section } from "../../parts/page.tsx";
import { Tag } from "../../parts/state.tsx";
import { counted, percent } from "../../parts/words.ts";
import styles from "./preview.module.css";
import { GATES } from "./words.ts";

interface LeftOutParts {
  readonly block: ApiPreview;
  readonly butler: string;
}

export function LeftOut({ block: { left_out: all }, butler }: LeftOutParts) {
  return (
    <div id="left-out" className={styles.anchor}>
      <Section title="What was left out" aside={<Counts all={all} />}>
        {all.length === 0 && <p className={styles.dropped}>Nothing else has to do with this prompt.</p>}
        {GATES.map(([gate, words, about]) => {
          const kept = all.filter((one) => one.gate === gate);
          return kept.length === 0 ? null : (
            <section key={gate} id={`left-${gate}`} className={styles.anchor} aria-label={words}>
              <h3 className={styles.group}>
                {words} <span>{kept.length}</span>
              </h3>
              <p className={styles.about}>{about}</p>
              {kept.map(({ id, type, text, effective_confidence, relevance }) => (
                <A key={id} to={memoryHref(butler, id)} className={styles.row} data-row>
                  <span className={styles.text}>{text}</span>
                  <span className={styles.aside}>
                    <Tag>{type}</Tag>
                    <span title="How well it fits, beside the others that were found">
                      fits {percent(Math.min(1, relevance))}
                    </span>
                    {type !== "episode" && <span>{percent(effective_confidence)} sure</span>}
                  </span>
                </A>
              ))}
            </section>
          );
        })}
      </Section>
    </div>
  );
}

function Counts({ all }: { readonly all: ApiPreview["left_out"] }) {
  const some = GATES.map(([gate, words]) => ({ gate, words, n: all.filter((one) => one.gate === gate).length })).filter(
    ({ n }) => n > 0,
  );
  if (some.length === 0) return null;
  return (
    <span className={styles.counts}>
      <span>{counted(all.length, "memory")}:</span>
      {some.map(({ gate, words, n }) => (
        <a key={gate} href={`#left-${gate}`}>
          {n} {words.toLowerCase()}
        </a>
      ))}
    </span>
  );
}
