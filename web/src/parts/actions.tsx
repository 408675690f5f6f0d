/** What can be done with a memory, in place: each small, with its reason, and taken back by Undo. */
import { type FormEvent, type ReactNode, useState } from "react";
import { useMayWrite, useWrites } from "../api/writes.ts";
import styles from "./actions.module.css";

export interface Actable {
  readonly type: "fact" | "rule" | "episode";
  readonly id: string;
  readonly state: string;
  /** Null when it is not shown. */
  readonly content: string | null;
}

type Asking = "correct" | "forget" | "harmful";

interface ActionsParts {
  readonly butler: string;
  readonly memory: Actable;
  /** After a correction another memory holds. */
  readonly corrected?: (id: string) => void;
}

export function Actions({ butler, memory, corrected }: ActionsParts) {
  const mayWrite = useMayWrite();
  const writes = useWrites(butler);
  const [asking, setAsking] = useState<Asking>();
  const { type, id, state, content } = memory;
  if (!mayWrite)
    return <p className={styles.reader}>You may look, and change nothing: you are signed in as a reader.</p>;
  const isLive = state === "active" || state === "fading";
  const close = () => setAsking(undefined);
  if (asking === "correct" && content !== null)
    return (
      <Correct
        before={content}
        close={close}
        save={async (after, reason) => {
          close();
          const holds = await writes.correct(id, content, after, reason);
          if (holds !== undefined && holds !== id) corrected?.(holds);
        }}
      />
    );
  if (asking === "forget")
    return (
      <Reason
        label="Why forget it?"
        verb="Forget"
        close={close}
        save={(reason) => void writes.forget(id, content ?? id, reason)}
      />
    );
  if (asking === "harmful")
    return (
      <Reason
        label="What harm did it do?"
        verb="Mark harmful"
        close={close}
        save={(reason) => writes.mark(id, "harmful", reason)}
      />
    );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a row of buttons, not a form.
    <div className={styles.actions} role="group" aria-label="Change this memory">
      {isLive && type !== "episode" && (
        <Button
          onClick={() => writes.confirm(id, content ?? id)}
          title="It is still true: it fades from today on, as if it were new"
        >
          Confirm
        </Button>
      )}
      {isLive && type !== "episode" && content !== null && (
        <Button onClick={() => setAsking("correct")}>Correct</Button>
      )}
      {isLive && type === "rule" && (
        <>
          <Button onClick={() => writes.mark(id, "helpful")}>Helpful</Button>
          <Button onClick={() => setAsking("harmful")}>Harmful</Button>
        </>
      )}
      {isLive && <Button onClick={() => setAsking("forget")}>Forget</Button>}
      {(state === "retracted" || state === "expired") && (
        <Button onClick={() => void writes.restore(id, content ?? id)}>Restore</Button>
      )}
    </div>
  );
}

interface ButtonParts {
  readonly onClick: () => void;
  readonly title?: string;
  /** Beside what is read more often than it is pressed. */
  readonly isQuiet?: boolean;
  readonly children: ReactNode;
}

export const Button = ({ onClick, title, isQuiet = false, children }: ButtonParts) => (
  <button type="button" className={isQuiet ? styles.quiet : styles.button} onClick={onClick} title={title}>
    {children}
  </button>
);

interface CorrectParts {
  readonly before: string;
  readonly close: () => void;
  readonly save: (after: string, reason: string | undefined) => void;
}

const textIn = (form: FormData, name: string): string => {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
};

function Correct({ before, close, save }: CorrectParts) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const after = textIn(form, "after");
    if (after === "" || after === before) close();
    else save(after, textIn(form, "reason") || undefined);
  };
  return (
    <form className={styles.form} onSubmit={submit} onKeyDown={(event) => event.key === "Escape" && close()}>
      <label>
        What is true instead
        {/* biome-ignore lint/a11y/noAutofocus: the person has just asked to write here. */}
        <textarea name="after" defaultValue={before} rows={3} autoFocus maxLength={4000} />
      </label>
      <label>
        Why (if you like)
        <input name="reason" maxLength={2000} />
      </label>
      <Ends verb="Save" close={close} />
    </form>
  );
}

interface ReasonParts {
  readonly label: string;
  readonly verb: string;
  readonly close: () => void;
  readonly save: (reason: string | undefined) => void;
}

function Reason({ label, verb, close, save }: ReasonParts) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    close();
    save(textIn(new FormData(event.currentTarget), "reason") || undefined);
  };
  return (
    <form className={styles.form} onSubmit={submit} onKeyDown={(event) => event.key === "Escape" && close()}>
      <label>
        {label} (if you like)
        {/* biome-ignore lint/a11y/noAutofocus: the person has just asked to write here. */}
        <input name="reason" autoFocus maxLength={2000} />
      </label>
      <Ends verb={verb} close={close} />
    </form>
  );
}

const Ends = ({ verb, close }: { readonly verb: string; readonly close: () => void }) => (
  <div className={styles.actions}>
    <button type="submit" className={`${styles.button} ${styles.main}`}>
      {verb}
    </button>
    <Button onClick={close}>Cancel</Button>
  </div>
);
