/** The files that install and uninstall change, as data and as lines for a terminal. */
import { homedir } from "node:os";
import type { Write } from "../../hosts/install/disk.ts";
import { diffLines } from "../../hosts/install/edit/diff.ts";

interface FileChange {
  readonly path: string;
  readonly action: "create" | "change" | "remove";
  readonly diff?: readonly string[];
}

export function fileChanges(writes: readonly Write[], withDiff: boolean): FileChange[] {
  return writes.map(({ path, before, after }) => ({
    path,
    action: before === undefined ? "create" : after === undefined ? "remove" : "change",
    ...(withDiff ? { diff: diffLines(before, after) } : {}),
  }));
}

const DONE = { create: "wrote", change: "changed", remove: "removed" } as const;

/** One line a file, with what changes in it below when that was asked for. */
export function changeLines(changes: readonly FileChange[]): string[] {
  return changes.flatMap(({ path, action, diff }) => [
    `  ${(diff ? `would ${action}` : DONE[action]).padEnd(diff ? 13 : 8)} ${short(path)}`,
    ...(diff ?? []).map((line) => `      ${line}`),
  ]);
}

export function short(path: string): string {
  const home = homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
