/** The button that opens what can be done with a line, in place. */
import styles from "./more.module.css";

interface MoreParts {
  /** What is changed, for those who do not see the line. */
  readonly of: string;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

export const More = ({ of, isOpen, toggle }: MoreParts) => (
  <button
    type="button"
    className={styles.more}
    aria-expanded={isOpen}
    aria-label={`Change this ${of}`}
    title={isOpen ? "Close" : `Change this ${of}`}
    onClick={toggle}
  >
    <span aria-hidden>{isOpen ? "×" : "…"}</span>
  </button>
);
