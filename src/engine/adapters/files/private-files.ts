/** Files of one user alone: folders 0700, files without any right for the group and for others. */
import { chmodSync, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";

const OTHERS = 0o077;

/** Paths under `root`, itself included, that group or others may read, write or enter. Links are not followed. */
export function* openPaths(root: string, skip: (path: string) => boolean = () => false): Generator<string> {
  // On Windows rights are in access control lists, and modes mean nothing.
  if (process.platform === "win32" || skip(root)) return;
  const found = look(root);
  if (found === undefined || found.isSymbolicLink()) return;
  if ((found.mode & OTHERS) !== 0 && (found.isFile() || found.isDirectory() || found.isSocket())) yield root;
  if (found.isDirectory()) for (const name of readdirSync(root)) yield* openPaths(join(root, name), skip);
}

/** Takes those rights away from what is ours; returns how many paths had them. */
export function closeTree(root: string, skip?: (path: string) => boolean): number {
  let closed = 0;
  // Top down: once the outermost folder is closed nobody reaches what is below it.
  for (const path of openPaths(root, skip)) {
    const { mode, uid } = lstatSync(path);
    if (uid !== process.getuid?.()) continue;
    chmodSync(path, mode & 0o7777 & ~OTHERS);
    closed += 1;
  }
  return closed;
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    // Another process may have removed it meanwhile.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
