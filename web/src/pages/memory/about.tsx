/** The line below a memory's sentence: what it is, who said so, and how well it is known. */
import type { ReactNode } from "react";
import type { ApiMemory } from "../../../../src/doors/http/api/types.ts";
import { A, butlerPath } from "../../frame/link.tsx";
import { ShortId } from "../../parts/empty.tsx";
import { State, Tag } from "../../parts/state.tsx";
import { When } from "../../parts/when.tsx";
import { counted, PERMANENCE_WORDS, percent, SAID_BY, scopeWords } from "../../parts/words.ts";
import styles from "./memory.module.css";
import type { Row } from "./memory.tsx";

interface AboutParts {
  readonly row: Row;
  readonly recalled: ApiMemory["recalled"];
  readonly butler: string;
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

export function About({ row, recalled, butler }: AboutParts) {
  const permanence = text(row.permanence);
  const maturity = text(row.maturity);
  const trust = text(row.trust);
  const session = text(row.session_id);
  const tags = Array.isArray(row.tags) ? row.tags.map(String) : [];
  const parts: ReactNode[] = [
    maturity === "anti_pattern" ? <State key="warning" state="warning" /> : row.type,
    <State key="state" state={row.state} />,
    row.effective_confidence !== undefined && row.type !== "episode" && `${percent(row.effective_confidence)} sure`,
    permanence && `${permanence}: ${PERMANENCE_WORDS[permanence]}`,
    maturity && maturity !== "anti_pattern" && maturity,
    text(row.tier) && `tier ${text(row.tier)}`,
    trust && SAID_BY[trust],
    <span key="scope" title={row.scope}>
      {scopeWords(row.scope)}
    </span>,
    recalled.times > 0 && `recalled ${counted(recalled.times, "time")}`,
    session && <A to={butlerPath(butler, `sessions/${encodeURIComponent(session)}`)}>its session</A>,
    text(row.created_at) && (
      <span>
        since <When at={String(row.created_at)} />
      </span>
    ),
    <ShortId key="id" id={row.id} />,
  ].filter((part) => part !== false && part !== undefined && part !== "");
  return (
    <div className={styles.about}>
      {parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their places.
        <span key={at}>{part}</span>
      ))}
      {tags.map((tag) => (
        <Tag key={tag}>{tag}</Tag>
      ))}
    </div>
  );
}
