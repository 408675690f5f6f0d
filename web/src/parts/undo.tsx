/** Undo what came of an event, a session or a run: a preview of everything that would change, and then the change. */
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { ApiUndo, ApiUndoNode } from "../../../src/doors/http/api/types.ts";
import { memoryPath, postJson } from "../api/client.ts";
import { useMayWrite } from "../api/writes.ts";
import { A, memoryHref } from "../frame/link.tsx";
import { say } from "../frame/toasts.tsx";
import { Button } from "./actions.tsx";
import styles from "./undo.module.css";
import { counted } from "./words.ts";

export type UndoCause = { readonly event: string } | { readonly session: string } | { readonly run: string };

interface UndoParts {
  readonly butler: string;
  readonly cause: UndoCause;
  readonly words?: string;
  readonly isQuiet?: boolean;
}

export function UndoWhatCame({ butler, cause, words = "Undo what came of this", isQuiet = false }: UndoParts) {
  const mayWrite = useMayWrite();
  const client = useQueryClient();
  const dialog = useRef<HTMLDialogElement>(null);
  const [shown, setShown] = useState<ApiUndo>();
  const [isBusy, setBusy] = useState(false);
  if (!mayWrite) return null;

  async function ask(body: object): Promise<ApiUndo | undefined> {
    setBusy(true);
    try {
      return await postJson<ApiUndo>(memoryPath(butler, "undo"), body);
    } catch (error) {
      say({ text: error instanceof Error ? error.message : String(error), isError: true });
      return undefined;
    } finally {
      setBusy(false);
    }
  }
  async function preview(): Promise<void> {
    const answer = await ask({ ...cause, dry_run: true });
    if (answer === undefined) return;
    setShown(answer);
    dialog.current?.showModal();
  }
  async function perform(what: object): Promise<void> {
    dialog.current?.close();
    const done = await ask(what);
    if (done === undefined) return;
    await Promise.all(["butler", "fleet"].map((key) => client.invalidateQueries({ queryKey: [key] })));
    const { undo_id } = done;
    if (undo_id === null) say({ text: "There was nothing to undo any more." });
    else say({ text: `Undone: ${summaryOf(done)}.`, undo: () => void perform({ request: undo_id }) });
  }
  return (
    <>
      <Button isQuiet={isQuiet} onClick={() => void preview()}>
        {isBusy ? "…" : words}
      </Button>
      <dialog ref={dialog} className={styles.dialog} aria-label="What would be undone">
        {shown !== undefined && <Preview butler={butler} shown={shown} />}
        <div className={styles.ends}>
          {shown !== undefined && shown.tree.length > 0 && (
            <Button onClick={() => void perform(cause)}>Undo all of it</Button>
          )}
          <Button onClick={() => dialog.current?.close()}>Cancel</Button>
        </div>
      </dialog>
    </>
  );
}

function Preview({ butler, shown }: { readonly butler: string; readonly shown: ApiUndo }) {
  const { tree, stays } = shown;
  return (
    <>
      <h2>{tree.length === 0 ? "There is nothing to undo" : `This would be undone: ${summaryOf(shown)}`}</h2>
      <Nodes butler={butler} nodes={tree} />
      {stays.length > 0 && (
        <>
          <h3>What stays</h3>
          <ul className={styles.nodes}>
            {stays.map(({ id, text, why }) => (
              <li key={`${id} ${why}`}>
                <A to={memoryHref(butler, id)}>{text}</A> <span className={styles.what}>because {why}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Nodes({ butler, nodes }: { readonly butler: string; readonly nodes: readonly ApiUndoNode[] }) {
  if (nodes.length === 0) return null;
  return (
    <ul className={styles.nodes}>
      {nodes.map(({ id, type, text, what, children }) => (
        <li key={id}>
          <A to={memoryHref(butler, id)}>{text}</A>{" "}
          <span className={styles.what}>
            {type} · {what.join(", ")}
          </span>
          <Nodes butler={butler} nodes={children} />
        </li>
      ))}
    </ul>
  );
}

function summaryOf({ counts }: ApiUndo): string {
  const parts = [
    counts.goes > 0 && `${counted(counts.goes, "memory")} taken back`,
    counts.comes > 0 && `${counted(counts.comes, "memory")} back again`,
    counts.changes > 0 && `${counted(counts.changes, "memory")} as before`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}
