import type { ExitCode } from "../../doors/failures.ts";
import type { Context } from "../program/command.ts";
import { tell } from "./why.ts";

export const usage = `butler why-not <id> --query "<question>" [--context] [filters] [--butler <name>] [--json]

Says what kept a memory out of the answer to a question: forgotten, superseded, expired, faded, filtered, not found, below the
limit, said already, or no room for it; and says so plainly when it was shown. It takes what butler why takes.`;

export const run = (args: readonly string[], context: Context): Promise<ExitCode> => tell("why-not", args, context);
