import type { ExitCode } from "../../doors/failures.ts";
import type { Context } from "../program/command.ts";
import { tell } from "./why.ts";

export const usage = `butler why-not <id> --query "<question>" [--context] [filters] [--butler <name>] [--json]

Says what kept a memory out of the answer to a question: forgotten, superseded, expired, faded, filtered, not found, below the
limit, already said, or over the token budget; or that it was shown. It takes the same arguments as butler why.`;

export const run = (args: readonly string[], context: Context): Promise<ExitCode> => tell("why-not", args, context);
