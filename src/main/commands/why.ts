import { type FlagSet, flagsOf, readFlags } from "../../doors/cli/flags.ts";
import { renderAnswer, renderError } from "../../doors/cli/render.ts";
import { type ExitCode, exitCode } from "../../doors/failures.ts";
import { invalid, MemoryError } from "../../engine/domain/errors.ts";
import { memoryWhy } from "../../engine/tools/memory-why.ts";
import { type WhyShown, type WhyStyle, whyWords } from "../../engine/tools/why-words.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { chooseButler } from "../program/choose-butler.ts";
import type { Context } from "../program/command.ts";

export const usage = `butler why <id> --query "<question>" [--context] [filters] [--butler <name>] [--json]

Says how a memory got its rank in the answer to a question: which parts of the search (words, vectors) found it and at which rank,
and which signals counted. --context asks about the context block of a prompt instead, with --token-budget. The filters are those of a
search: --types, --scope, --mode, --limit, --min-confidence, --tier, --tags, --rank. butler why-not begins with what kept it out.`;

export const run = (args: readonly string[], context: Context): Promise<ExitCode> => tell("why", args, context);

/** `why` and `why-not` make the same call; they differ in what is said first. */
export async function tell(
  lead: WhyStyle["lead"],
  args: readonly string[],
  { environment, say, note }: Context,
): Promise<ExitCode> {
  const { input, butler: asked, json } = understood(lead, args);
  const client = ownerClient(environment);
  try {
    const butler = await chooseButler(client, asked);
    const outcome = await client.invoke(butler, { tool: memoryWhy.name, input });
    const terminal = process.stdout.isTTY === true;
    const options = { json, colour: environment.colour && terminal };
    if (outcome.ok) {
      const text = (answer: Record<string, unknown>) =>
        whyWords(answer as Record<string, unknown> & WhyShown, { lead, bars: terminal });
      say(renderAnswer({ ...memoryWhy, text }, outcome.answer, options));
      return 0;
    }
    if (json) say(renderError(outcome.error, options));
    else note(renderError(outcome.error, options));
    return exitCode(outcome.error.code);
  } finally {
    client.close();
  }
}

/** The id comes first; other plain words are the question, unless --query asks it. */
export function understood(
  lead: WhyStyle["lead"],
  args: readonly string[],
): Pick<FlagSet, "input" | "butler" | "json"> {
  const end = args.indexOf("--");
  const isContext = (word: string, at: number) => word === "--context" && (end === -1 || at < end);
  const read = readFlags(
    flagsOf(memoryWhy),
    args.filter((word, at) => !isContext(word, at)),
    true,
  );
  if (!read.ok) {
    const { code, message, field } = read.error;
    throw new MemoryError(code, message, field === undefined ? {} : { field });
  }
  const { input, positionals, ...rest } = read.value;
  const [id, ...question] = input.id === undefined ? positionals : [input.id, ...positionals];
  const query = input.query ?? (question.length > 0 ? question.join(" ") : undefined);
  if (id === undefined) throw invalid("id", `Which memory? butler ${lead} <id> --query "<question>".`);
  if (query === undefined) throw invalid("query", `For which question? butler ${lead} ${id} --query "<question>".`);
  if (input.query !== undefined && question.length > 0)
    throw invalid("query", `"${question.join(" ")}" is too much: --query already asks the question.`);
  return { ...rest, input: { ...input, ...(args.some(isContext) ? { for: "context" } : {}), id, query } };
}
