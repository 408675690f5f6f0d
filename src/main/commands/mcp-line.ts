/**
 * `butler mcp` as agents start it: bundled into one file, with the answers that the build has recorded beside it. An agent waits for this
 * process at its start, and every file that is loaded takes about a millisecond.
 */
import { readFileSync } from "node:fs";
import type { KnownAnswers } from "../../doors/mcp/stdio/known-answers.ts";
import { readEnvironment } from "../environment.ts";
import { serveLine } from "../program/mcp-line.ts";

/** False when the arguments are for the whole program: it gives help, and says what is wrong. */
export async function runLine(args: readonly string[]): Promise<boolean> {
  if (args.some((word) => word === "--help" || word === "-h")) return false;
  const answers = readFileSync(new URL("./mcp-answers.json", import.meta.url), "utf8");
  try {
    await serveLine(args, readEnvironment(), JSON.parse(answers) as KnownAnswers);
  } catch {
    return false;
  }
  process.exit(0);
}
