/** The memories of a block, section by section, each linked. */
import { useMemo } from "react";
import type { ApiPreview } from "../../../../src/doors/http/api/types.ts";
import { A, memoryHref } from "../../frame/link.tsx";
import { Section } from "../../parts/page.tsx";
import { State, Tag } from "../../parts/state.tsx";
import { Told } from "../../parts/told.tsx";
import styles from "./preview.module.css";
import { sectionWords } from "./words.ts";

interface InBlockParts {
  readonly block: ApiPreview;
  readonly butler: string;
}

export function InBlock({ block, butler }: InBlockParts) {
  const texts = useMemo(() => new Map(block.texts.map((memory) => [memory.id, memory])), [block.texts]);
  const sections = block.sections.filter(({ items, dropped }) => items.length + dropped > 0);
  if (sections.length === 0) return null;
  return (
    <div id="told" className={styles.anchor}>
      <Section
        title="What is told"
        aside={
          block.as_of !== undefined && (
            <span className={styles.about}>in the words and states of today; those of that day stand in the block</span>
          )
        }
      >
        {sections.map(({ name, items, dropped }) => (
          <section key={name} id={`told-${name}`} className={styles.anchor} aria-label={sectionWords(name)}>
            <h3 className={styles.group}>
              {sectionWords(name)} <span>{items.length}</span>
            </h3>
            {items.map(({ id, type }) => {
              const memory = texts.get(id);
              return (
                <A key={id} to={memoryHref(butler, id)} className={styles.row} data-row>
                  <span className={styles.text}>
                    {memory?.text == null ? (
                      "(not kept any more)"
                    ) : (
                      <Told text={memory.text} isFact={type === "fact"} />
                    )}
                  </span>
                  <span className={styles.aside}>
                    <Tag>{type}</Tag>
                    {memory !== undefined && memory.state !== "active" && <State state={memory.state} />}
                  </span>
                </A>
              );
            })}
            {dropped > 0 && (
              <p className={styles.dropped}>
                <a href="#left-budget">{dropped.toLocaleString("en")} more</a> had no room.
              </p>
            )}
          </section>
        ))}
      </Section>
    </div>
  );
}
