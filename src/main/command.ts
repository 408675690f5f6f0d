/** What a command is. Each lives in its own file and is loaded only when it is asked for. */
import { parseArgs } from "node:util";
import { invalid } from "../domain/errors.ts";
import type { ExitCode } from "../serve/failures.ts";
import type { Environment } from "./environment.ts";

export interface Context {
  readonly environment: Environment;
  /** One line of the answer, to stdout. */
  say(line: string): void;
  /** One line beside the answer, to stderr. */
  note(line: string): void;
}

export interface CommandModule {
  readonly usage: string;
  run(args: readonly string[], context: Context): Promise<ExitCode>;
}

type Options = Readonly<Record<string, { readonly type: "string" | "boolean" }>>;

export interface Read<O extends Options> {
  readonly values: { readonly [K in keyof O]?: O[K]["type"] extends "string" ? string : boolean };
  readonly positionals: readonly string[];
}

/** `parseArgs` with its complaints in our words and with our exit code. */
export function readOptions<O extends Options>(args: readonly string[], options: O, allowPositionals = false): Read<O> {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals, strict: true });
    return { values: values as Read<O>["values"], positionals };
  } catch (error) {
    throw invalid(
      "arguments",
      error instanceof Error ? error.message.replace(/\. To specify.*$/s, ".") : String(error),
    );
  }
}
