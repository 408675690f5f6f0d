/** Links in a home that another user has made. A home may have been open to others before it was one: through a link we would write and read where they want it. */
import { lstatSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";

/** Embedded stores are left out: they lie in folders that nobody else could ever enter. */
const isStore = (path: string) => basename(path) === "store";

/** Below `root`, itself included. Root's links are the machine's own; Windows has no owners of this kind. */
export function* foreignLinks(root: string): Generator<string> {
  const us = process.getuid?.();
  if (us === undefined || isStore(root)) return;
  const found = lstatSync(root, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() && found.uid !== us && found.uid !== 0) yield root;
  if (found?.isDirectory()) for (const name of readdirSync(root)) yield* foreignLinks(join(root, name));
}
