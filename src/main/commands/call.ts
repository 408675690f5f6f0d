import type { ExitCode } from "../../doors/failures.ts";
import { invalid } from "../../engine/domain/errors.ts";
import type { Context } from "../program/command.ts";
import { runTool } from "../program/run-tool.ts";

export const usage = `butler call <tool> [--butler <name>] [--json '{…}' | --<argument> <value> …]

Calls a tool with its input as JSON or as flags. butler call <tool> --help lists a tool's arguments.`;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const at = args.findIndex((word) => !word.startsWith("-"));
  const tool = args[at];
  if (args[0] === "--help" || args[0] === "-h") {
    context.say(usage);
    return 0;
  }
  if (tool === undefined || at !== 0) throw invalid("tool", "Which tool? butler call <tool> …; its name comes first.");
  return runTool(tool, args.slice(1), context);
}
