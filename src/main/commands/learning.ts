import { writeFileSync } from "node:fs";
import type { OwnerClient } from "../../daemon/line/client.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { invalid, MemoryError, reasonOf } from "../../engine/domain/errors.ts";
import type { ToolInput } from "../../engine/tools/index.ts";
import { typedCall } from "../../engine/tools/typed-call.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { chooseButler } from "../program/choose-butler.ts";
import { type Context, readOptions } from "../program/command.ts";
import { tellFailure } from "../program/tell-failure.ts";
import { corpusLines, type LearningShown, learningWords, resetWords } from "../words/learning-bars.ts";

export const usage = `butler learning [--limit <n>] [--butler <name>] [--json]
butler learning reset [--butler <name>] [--json]
butler learning export [--out <file>] [--butler <name>]

Without a language model, a sentence is kept when the reader is sure enough of it. What you do with what was learned moves that bar,
by kind: what you forget, correct or mark as harmful raises it, what you confirm, restore or mark as helpful lowers it; by 20 points up
and 10 down at most. Shown are the shipped bars, those in force and the latest examples (--limit: 10 if left out).
reset starts again from the shipped bars; nothing else changes, and the memories stay.
export prints the examples as labelled messages, one JSON object a line, with secrets taken out: butler bench learning --data <file>
measures with them.`;

const ALL = 1_000;

const OPTIONS = {
  butler: { type: "string" },
  json: { type: "boolean" },
  limit: { type: "string" },
  out: { type: "string" },
} as const;

type Values = ReturnType<typeof readOptions<typeof OPTIONS>>["values"];

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const { values, positionals } = readOptions(args, OPTIONS, true);
  const [verb = "show", ...more] = positionals;
  if (!["show", "reset", "export"].includes(verb) || more.length > 0)
    throw invalid("arguments", `butler learning has no "${positionals.join(" ")}": nothing more, reset or export.`);
  if (values.out !== undefined && verb !== "export")
    throw invalid("out", "--out belongs to butler learning export; the others print what there is.");
  const client = ownerClient(context.environment);
  try {
    return await answer(verb, values, client, context);
  } finally {
    client.close();
  }
}

async function answer(verb: string, values: Values, client: OwnerClient, context: Context): Promise<ExitCode> {
  const { say } = context;
  const json = values.json === true;
  const butler = await chooseButler(client, values.butler);
  const call = typedCall((request) => client.invoke(butler, request));
  const outcome = await call("memory_learning", inputOf(verb, values.limit));
  if (!outcome.ok) {
    return tellFailure(outcome.error, json, context);
  }
  if (verb === "export") exportTo(values.out, outcome.answer, context);
  else if (json) say(JSON.stringify(outcome.answer, null, 2));
  else for (const line of (verb === "reset" ? resetWords : learningWords)(outcome.answer)) say(line);
  return 0;
}

function inputOf(verb: string, limit: string | undefined): ToolInput<"memory_learning"> {
  if (verb === "reset") return { reset: true };
  if (limit === undefined) return verb === "export" ? { limit: ALL } : {};
  const number = Number(limit);
  if (Number.isInteger(number) && number >= 1 && number <= ALL) return { limit: number };
  throw invalid("limit", `--limit is "${limit}"; it must be a number from 1 to ${ALL}.`);
}

function exportTo(file: string | undefined, shown: LearningShown, { say, note }: Context): void {
  const { lines, left } = corpusLines(shown);
  if (file === undefined) for (const line of lines) say(line);
  else writeNew(file, lines);
  const where = file === undefined ? "" : ` are in ${file}`;
  note(
    `${lines.length} examples${where}.${left === 0 ? "" : ` ${left} were left out: edits say neither that a sentence is worth keeping nor that it is not, and some texts are not yours to see.`}`,
  );
}

/** For its owner alone, and never over another file. */
function writeNew(file: string, lines: readonly string[]): void {
  try {
    writeFileSync(file, lines.map((line) => `${line}\n`).join(""), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST")
      throw invalid("out", `${file} exists already; name another file, or delete it first.`);
    throw new MemoryError("unavailable", `${file} cannot be written: ${reasonOf(error)}`);
  }
}
