/** How the tokens of a block are shared out among its sections, against the budget. */
import type { ApiPreview } from "../../../../src/doors/http/api/types.ts";
import styles from "./preview.module.css";
import { sectionWords } from "./words.ts";

export function TokenBar({ block }: { readonly block: ApiPreview }) {
  const { tokens_by_section: parts, budget, tokens } = block;
  const shown = parts.filter((part) => part.tokens > 0);
  const left = Math.max(0, budget - tokens);
  const share = (n: number) => `${(100 * n) / Math.max(budget, tokens, 1)}%`;
  return (
    <figure>
      <div className={styles.bar} aria-hidden="true">
        {shown.map(({ name, tokens: n }) => (
          <span key={name} data-section={name} style={{ width: share(n) }} title={`${sectionWords(name)}: ${n}`} />
        ))}
      </div>
      <figcaption>
        <ul className={styles.legend}>
          {shown.map(({ name, tokens: n }) => (
            <li key={name}>
              <i data-section={name} aria-hidden="true" />{" "}
              {name === "frame" ? (
                <span title="The lines around the memories, which say what the block is.">frame</span>
              ) : (
                <a href={`#told-${name}`}>{sectionWords(name)}</a>
              )}{" "}
              <strong>{n.toLocaleString("en")}</strong>
            </li>
          ))}
          <li>
            <i data-section="left" aria-hidden="true" /> not used <strong>{left.toLocaleString("en")}</strong>
          </li>
        </ul>
      </figcaption>
    </figure>
  );
}
