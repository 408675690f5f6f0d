import styles from "./loading.module.css";

/** Lines in the place of what is coming. */
export function Loading({ lines = 6 }: { readonly lines?: number }) {
  return (
    <div className={styles.loading} role="status" aria-busy="true">
      <span className="visually-hidden">Loading …</span>
      {Array.from({ length: lines }, (_, at) => at).map((line) => (
        <span key={line} className={styles.line} />
      ))}
    </div>
  );
}
