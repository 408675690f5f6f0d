/** The state of a memory: a colour, and always its word. */
import styles from "./state.module.css";

const MEANS: Readonly<Record<string, string>> = {
  active: "Known, and told to agents.",
  fading: "Not confirmed for a while: below the threshold, it is not told any more until it is confirmed.",
  expired: "Faded away. It can be restored.",
  superseded: "Something newer has taken its place.",
  retracted: "Forgotten on purpose. It can be restored.",
};

export function State({ state }: { readonly state: string }) {
  return (
    <span className={styles.state} data-state={state} title={MEANS[state]}>
      {state === "retracted" ? "forgotten" : state}
    </span>
  );
}

export const Tag = ({ children, title }: { readonly children: string; readonly title?: string }) => (
  <span className={styles.tag} title={title}>
    {children}
  </span>
);
