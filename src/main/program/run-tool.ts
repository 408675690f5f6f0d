/** Tools at the command line: by their name, by `call`, or in a friendly form. */

import type { OwnerClient } from "../../daemon/line/client.ts";
import {
  FRIENDLY,
  type Parsed,
  parseFriendly,
  parseToolFlags,
  type ToolCommand,
  toolHelp,
} from "../../doors/cli/cli.ts";
import { flagsOf } from "../../doors/cli/flags.ts";
import { renderAnswer, renderError } from "../../doors/cli/render.ts";
import { type ExitCode, exitCode } from "../../doors/failures.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { MemoryError } from "../../engine/domain/errors.ts";
import { isRecord } from "../../engine/domain/record.ts";
import type { Tool } from "../../engine/tools/define.ts";
import { toolNamed, tools } from "../../engine/tools/index.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { chooseButler } from "./choose-butler.ts";
import { chosenProject } from "./choose-project.ts";
import type { Context } from "./command.ts";

/** `butler <word> …`, where the word is a friendly form or a tool's name. */
export async function runWord(word: string, args: readonly string[], context: Context): Promise<ExitCode> {
  if (!FRIENDLY.some(({ name }) => name === word)) return runTool(word, args, context);
  return runParsed(
    (butler) => parseFriendly(word, args, { tools, ...(butler === undefined ? {} : { butler }) }),
    context,
  );
}

/** `butler call <tool> …` and `butler <tool> …`. */
export async function runTool(name: string, args: readonly string[], context: Context): Promise<ExitCode> {
  const tool = toolNamed(name);
  if (!tool) throw new MemoryError("invalid_input", `There is no command or tool "${name}"; butler --help lists them.`);
  return runParsed((butler) => withButler(tool, parseToolFlags(tool, args), butler), context);
}

/** The arguments are parsed twice: the butler is known only after the first time, and some tools take it as an argument too. */
async function runParsed(
  parse: (butler: string | undefined) => Parsed | undefined,
  context: Context,
): Promise<ExitCode> {
  const first = understood(parse(undefined));
  if (first.help) {
    context.say(toolHelp(first.tool));
    return 0;
  }
  // The project belongs to the call, not to the input of the tool, as `--butler` does.
  const project = chosenProject(first.project, context.environment);
  const client = ownerClient(context.environment, { project });
  try {
    const butler = await chooseButler(client, first.butler);
    return await callAndShow(client, butler, understood(parse(butler)), context);
  } finally {
    client.close();
  }
}

async function callAndShow(
  client: OwnerClient,
  butler: string,
  command: ToolCommand,
  context: Context,
): Promise<ExitCode> {
  const { tool, input, json } = command;
  const { environment, say, note } = context;
  const now = environment.now === undefined ? systemClock.now() : new Date(environment.now);
  const options = {
    json,
    now,
    colour: environment.colour && process.stdout.isTTY === true,
    width: process.stdout.columns ?? 100,
  };
  const outcome = await client.invoke(butler, { tool: tool.name, input });
  if (outcome.ok) {
    say(renderAnswer(tool, outcome.answer, options));
    return 0;
  }
  if (json) say(renderError(outcome.error, options));
  else note(renderError(outcome.error, options));
  return exitCode(outcome.error.code);
}

function understood(parsed: Parsed | undefined): ToolCommand {
  if (parsed?.ok) return parsed.command;
  if (!parsed) throw new MemoryError("internal", "A friendly form without a parser.");
  const { code, message, field } = parsed.error;
  throw new MemoryError(code, message, field === undefined ? {} : { field });
}

function withButler(tool: Tool, parsed: Parsed, butler: string | undefined): Parsed {
  if (
    !parsed.ok ||
    butler === undefined ||
    !isRecord(parsed.command.input) ||
    parsed.command.input.butler !== undefined
  )
    return parsed;
  if (!flagsOf(tool).some((flag) => flag.name === "butler" && flag.required)) return parsed;
  return { ok: true, command: { ...parsed.command, input: { ...parsed.command.input, butler } } };
}
