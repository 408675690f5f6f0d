/** Words that are selected inside can be asked about: a button appears below them. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import styles from "./sessions.module.css";

interface Selected {
  readonly words: string;
  /** Pixels from the corner of the box around. */
  readonly top: number;
  readonly left: number;
}

/** Changes while somebody drags are waited out. */
const CALM_MS = 250;
const LEAST = 3;
const MOST = 1_000;
const BUTTON_WIDTH = 220;

export function AskSelection({
  ask,
  children,
}: {
  readonly ask: (words: string) => void;
  readonly children: ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [selected, setSelected] = useState<Selected>();
  useEffect(() => {
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const changed = () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => setSelected(box.current === null ? undefined : selectionIn(box.current)), CALM_MS);
    };
    document.addEventListener("selectionchange", changed);
    return () => {
      clearTimeout(waiting);
      document.removeEventListener("selectionchange", changed);
    };
  }, []);
  return (
    <div ref={box} className={styles.selectable}>
      {children}
      {selected !== undefined && (
        <button
          type="button"
          className={styles.ask}
          style={{ top: selected.top, left: selected.left }}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => {
            document.getSelection()?.removeAllRanges();
            setSelected(undefined);
            ask(selected.words);
          }}
        >
          Where does this come from?
        </button>
      )}
    </div>
  );
}

function selectionIn(box: HTMLElement): Selected | undefined {
  const selection = document.getSelection();
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return undefined;
  const range = selection.getRangeAt(0);
  if (!box.contains(range.commonAncestorContainer)) return undefined;
  const words = selection.toString().replace(/\s+/g, " ").trim();
  if (words.length < LEAST) return undefined;
  const outer = box.getBoundingClientRect();
  const lines = range.getClientRects();
  const last = lines[lines.length - 1] ?? range.getBoundingClientRect();
  return {
    words: words.slice(0, MOST),
    top: last.bottom - outer.top + 6,
    left: Math.max(0, Math.min(last.left - outer.left, outer.width - BUTTON_WIDTH)),
  };
}
