/** Short words about what was just done, with a way back. */
import { Toast } from "radix-ui";
import { type ReactNode, useSyncExternalStore } from "react";
import styles from "./toasts.module.css";

export interface Said {
  readonly id: number;
  readonly text: string;
  readonly isError?: boolean;
  readonly link?: { readonly text: string; readonly href: string };
  readonly undo?: () => void;
  /** Called once when nobody can take it back any more. */
  readonly closed?: () => void;
}

const SHOWN_MS = 6_000;
let next = 0;
let shown: readonly Said[] = [];
const listeners = new Set<() => void>();

function set(list: readonly Said[]): void {
  shown = list;
  for (const tell of listeners) tell();
}

export function say(said: Omit<Said, "id">): number {
  next += 1;
  set([...shown.slice(-2), { ...said, id: next }]);
  return next;
}

function close(said: Said): void {
  if (!shown.includes(said)) return;
  set(shown.filter((one) => one !== said));
  said.closed?.();
}

const subscribe = (tell: () => void) => {
  listeners.add(tell);
  return () => void listeners.delete(tell);
};

export function Toasts({ children }: { readonly children: ReactNode }) {
  const list = useSyncExternalStore(subscribe, () => shown);
  return (
    <Toast.Provider duration={SHOWN_MS} swipeDirection="right" label="Just done">
      {children}
      {list.map((said) => (
        <Toast.Root
          key={said.id}
          className={styles.toast}
          data-error={said.isError === true}
          type={said.isError === true ? "foreground" : "background"}
          onOpenChange={(open) => {
            if (!open) close(said);
          }}
        >
          <Toast.Description className={styles.text}>{said.text}</Toast.Description>
          {said.link !== undefined && (
            <a className={styles.link} href={said.link.href}>
              {said.link.text}
            </a>
          )}
          {said.undo !== undefined && (
            <Toast.Action className={styles.undo} altText="Undo what was just done" onClick={said.undo}>
              Undo
            </Toast.Action>
          )}
          <Toast.Close className={styles.close} aria-label="Dismiss">
            ×
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport className={styles.viewport} />
    </Toast.Provider>
  );
}
