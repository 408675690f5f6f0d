import { writeFileSync } from "node:fs";
import { renderError } from "../../doors/cli/render.ts";
import { type ExitCode, exitCode } from "../../doors/failures.ts";
import { errorCode, invalid, MemoryError, reasonOf } from "../../engine/domain/errors.ts";
import { controlExport } from "../../engine/views/control/export.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { chooseButler } from "../program/choose-butler.ts";
import { type Context, readOptions } from "../program/command.ts";
import { type ExportShown, exportWords } from "../words/export.ts";

export const usage = `butler export --subject <name> [--out <file>] [--butler <name>] [--json]

What do you know about me? Everything about a subject: facts with what they were before, rules, and what was said that taught them or names
it, each with its source, its links and everything that happened to it. --subject user is the person. As text, or whole with --json;
--out writes a new file that only you can read.`;

const OPTIONS = {
  subject: { type: "string" },
  out: { type: "string" },
  butler: { type: "string" },
  json: { type: "boolean" },
} as const;

export async function run(args: readonly string[], { environment, say, note }: Context): Promise<ExitCode> {
  const { values } = readOptions(args, OPTIONS);
  if (values.subject === undefined) throw invalid("subject", "About whom? Name it with --subject; user is the person.");
  const json = values.json === true;
  const client = ownerClient(environment);
  try {
    const butler = await chooseButler(client, values.butler);
    const outcome = await client.invoke(butler, { tool: controlExport.name, input: { subject: values.subject } });
    if (!outcome.ok) {
      const options = { json, colour: environment.colour && process.stderr.isTTY === true };
      if (json) say(renderError(outcome.error, options));
      else note(renderError(outcome.error, options));
      return exitCode(outcome.error.code);
    }
    const answer = outcome.answer as unknown as ExportShown;
    const lines = json ? [JSON.stringify(answer, null, 2)] : exportWords(answer);
    if (values.out === undefined) for (const line of lines) say(line);
    else {
      writeNew(values.out, lines);
      note(`${answer.memories.length} memories are in ${values.out}.`);
    }
    return 0;
  } finally {
    client.close();
  }
}

/** For its owner alone, and never over another file. */
function writeNew(file: string, lines: readonly string[]): void {
  try {
    writeFileSync(file, lines.map((line) => `${line}\n`).join(""), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (errorCode(error) === "EEXIST")
      throw invalid("out", `${file} exists already; name another file, or delete it first.`);
    throw new MemoryError("unavailable", `${file} cannot be written: ${reasonOf(error)}`);
  }
}
