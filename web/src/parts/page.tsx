/** A page begins with one plain sentence; its list and its evidence come below. */
import { type ReactNode, useEffect } from "react";
import styles from "./page.module.css";

interface PageParts {
  /** Of the browser's tab. */
  readonly name: string;
  readonly sentence: ReactNode;
  /** A line below the sentence. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ name, sentence, aside, children }: PageParts) {
  useEffect(() => {
    document.title = `${name} · Butler Memory`;
  }, [name]);
  return (
    <>
      <div className={styles.head}>
        <h1>{sentence}</h1>
        {aside !== undefined && <div className={styles.aside}>{aside}</div>}
      </div>
      {children}
    </>
  );
}

export function Section({
  title,
  aside,
  children,
}: {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.bar}>
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}
