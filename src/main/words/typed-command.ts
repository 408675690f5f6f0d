/** What a person types to run this program again: `butler` when it is installed, or node with its file when it runs from a clone. */
import { basename } from "node:path";

export function typedCommand(argv: readonly string[]): string {
  const script = argv[1] ?? "butler";
  return basename(script) === "butler" ? "butler" : `node ${script}`;
}
