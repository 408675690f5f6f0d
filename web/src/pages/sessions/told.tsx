/** The memories that a session was given, in the order of the block, and what has become of each since. */
import type { ApiOneSession } from "../../../../src/doors/http/api/types.ts";
import { A, memoryHref } from "../../frame/link.tsx";
import { State, Tag } from "../../parts/state.tsx";
import { Told } from "../../parts/told.tsx";
import { When } from "../../parts/when.tsx";
import { counted, listed } from "../../parts/words.ts";
import styles from "./sessions.module.css";

export type Tellings = ApiOneSession["told"];
type Memory = Tellings[number]["memories"][number];

export function ToldMemories({ butler, told }: { readonly butler: string; readonly told: Tellings }) {
  if (told.length === 0) return <p className={styles.soft}>The log has nothing that it was told.</p>;
  return told.map(({ at, tokens, memories }, nth) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tellings keep their places.
    <div key={nth} className={styles.telling}>
      <h3>
        {nth === 0 ? "At the start" : "Later"}, <When at={at} />: {counted(memories.length, "memory")},{" "}
        {counted(tokens, "token")}
        {changedWords(memories)}
      </h3>
      <ul>
        {memories.map((memory) => (
          <li key={memory.id} data-state={memory.state ?? "gone"}>
            <Tag>{memory.type ?? "gone"}</Tag>
            {memory.type === undefined ? (
              <span className={styles.gone} title={memory.id}>
                It is gone: nothing is left of it.
              </span>
            ) : (
              <A to={memoryHref(butler, memory.id)} data-row>
                {memory.text == null ? (
                  "(forgotten since)"
                ) : (
                  <Told text={memory.text} isFact={memory.type === "fact"} />
                )}
              </A>
            )}
            {memory.state !== undefined && memory.state !== "active" && <State state={memory.state} />}
          </li>
        ))}
      </ul>
    </div>
  ));
}

/** Which of them hold no more. */
function changedWords(memories: readonly Memory[]): string {
  const count = (fits: (memory: Memory) => boolean, word: string) => {
    const n = memories.filter(fits).length;
    return n === 0 ? [] : [`${n} ${word}`];
  };
  const changed = [
    ...count(({ state }) => state === "superseded", "superseded"),
    ...count(({ state }) => state === "retracted", "forgotten"),
    ...count(({ state }) => state === "expired", "expired"),
    ...count(({ type }) => type === undefined, "gone"),
  ];
  return changed.length === 0 ? "" : `; since then ${listed(changed)}`;
}
