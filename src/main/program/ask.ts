/** Asks a person at a terminal. */
import { createInterface } from "node:readline/promises";

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Undefined where there is no terminal, and when no answer came: Ctrl-C or the end of the input. */
export async function askOnTerminal(
  question: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<string | undefined> {
  if (!input.isTTY || !output.isTTY) return undefined;
  const last = question.lastIndexOf("\n") + 1;
  output.write(question.slice(0, last));
  const lines = createInterface({ input, output });
  const gone = new AbortController();
  const leave = () => gone.abort();
  // While it reads a line, the terminal's Ctrl-C arrives here and not at the process.
  lines.once("SIGINT", leave);
  lines.once("close", leave);
  try {
    return (await lines.question(question.slice(last), { signal: gone.signal })).trim();
  } catch (error) {
    if (!gone.signal.aborted) throw error;
    output.write("\n");
    return undefined;
  } finally {
    lines.off("close", leave);
    lines.close();
  }
}
