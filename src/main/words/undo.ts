/** An undo as a tree of lines. */
import { shortId } from "../../engine/domain/short-id.ts";
import { neutralLine } from "../../engine/domain/text/neutral.ts";
import { clip } from "../../engine/domain/text/text.ts";
import type { UndoNode } from "../../engine/domain/undo/tree.ts";

export interface UndoShown {
  readonly undo_id: string | null;
  readonly dry_run: boolean;
  readonly events: number;
  readonly counts: { readonly goes: number; readonly comes: number; readonly changes: number; readonly stays: number };
  readonly tree: readonly UndoNode[];
  readonly stays: readonly {
    readonly type: string;
    readonly id: string;
    readonly text: string;
    readonly why: string;
  }[];
}

const WIDTH = 90;

export function undoWords(answer: UndoShown, butler: string | undefined): string[] {
  const { tree, stays, dry_run, undo_id } = answer;
  const lines = [...tree.flatMap((node) => nodeLines(node, "")), ...stays.map(staysLine)];
  if (tree.length === 0)
    return [...lines, "There is nothing to undo: it was undone before, or others have changed it since."];
  const of = butler === undefined ? "" : ` --butler ${butler}`;
  const end = dry_run
    ? `${summary(answer)}. Nothing was changed: leave out --dry-run to do it.`
    : `${summary(answer)}. To take this back: butler undo --request ${undo_id}${of}`;
  return [...lines, end];
}

function nodeLines({ type, id, text, what, children }: UndoNode, indent: string): string[] {
  const head = `${indent}${type} ${shortId(id)}: ${what.join(", ") || "unchanged"}`;
  return [`${head} | ${short(text)}`, ...children.flatMap((child) => nodeLines(child, `${indent}  `))];
}

const staysLine = ({ type, id, text, why }: UndoShown["stays"][number]): string =>
  `${type} ${shortId(id)} stays, because ${neutralLine(why)} | ${short(text)}`;

const short = (text: string): string => clip(neutralLine(text), WIDTH);

function summary({ counts, dry_run }: UndoShown): string {
  const would = dry_run ? "would be " : "";
  const parts = [
    [counts.goes, `${would}taken back`],
    [counts.comes, dry_run ? "would hold again" : "hold again"],
    [counts.changes, `${would}as before`],
    [counts.stays, dry_run ? "would stay" : "stay"],
  ] as const;
  return parts.flatMap(([n, words]) => (n === 0 ? [] : [`${n} ${words}`])).join(", ");
}
