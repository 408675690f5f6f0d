/** The text of a memory. Lists name a fact by its key, "kassa dns: Route 53": the value is what is read, the key stands small before it. */
import styles from "./told.module.css";
import { predicateWords } from "./words.ts";

const cut = (text: string): number => text.indexOf(": ");

export const factValue = (text: string): string => (cut(text) < 0 ? text : text.slice(cut(text) + 2));

export function Told({ text, isFact }: { readonly text: string; readonly isFact: boolean }) {
  if (!isFact || cut(text) < 0) return text;
  return (
    <>
      <span className={styles.key}>{`${predicateWords(text.slice(0, cut(text)))} `}</span>
      {factValue(text)}
    </>
  );
}
