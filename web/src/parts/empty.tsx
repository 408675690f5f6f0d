/** Nothing to show yet, and what to do next. */
import { type ReactNode, useState } from "react";
import styles from "./empty.module.css";
import { shortId } from "./words.ts";

export function Empty({ says, children }: { readonly says: string; readonly children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.says}>{says}</p>
      {children}
    </div>
  );
}

/** A command to copy. */
export function Command({ text }: { readonly text: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <span className={styles.command}>
      <code>{text}</code>
      <button
        type="button"
        onClick={() => void navigator.clipboard?.writeText(text).then(() => setCopied(true))}
        aria-label={`Copy ${text}`}
      >
        {copied ? "Copied" : "Copy"}
      </button>
    </span>
  );
}

/** An id, short; a click copies the whole. */
export function ShortId({ id }: { readonly id: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <button
      type="button"
      className={styles.id}
      title={`Copy ${id}`}
      onClick={() => void navigator.clipboard?.writeText(id).then(() => setCopied(true))}
    >
      {copied ? "copied" : shortId(id)}
    </button>
  );
}
