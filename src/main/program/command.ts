/** What a command is, and how it reads its flags. Each command has its own file and is loaded only when it is run. */

import { readArgv } from "../../doors/cli/argv.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { invalid } from "../../engine/domain/errors.ts";
import type { Environment } from "../environment.ts";

export interface Context {
  readonly environment: Environment;
  /** One line of the answer, to stdout. */
  say(line: string): void;
  /** One line beside the answer, to stderr. */
  note(line: string): void;
  /** Asks the person at the terminal; undefined where there is none, and when no answer came. */
  ask?(question: string): Promise<string | undefined>;
}

export interface CommandModule {
  readonly usage: string;
  run(args: readonly string[], context: Context): Promise<ExitCode>;
}

interface Option {
  readonly type: "string" | "boolean";
  /** May be given more than once, and its value is a list; otherwise the last one counts. */
  readonly multiple?: true;
}

type Options = Readonly<Record<string, Option>>;

type Value<O extends Option> = O["type"] extends "boolean" ? boolean : O["multiple"] extends true ? string[] : string;

export interface Read<O extends Options> {
  readonly values: { readonly [K in keyof O]?: Value<O[K]> };
  readonly positionals: readonly string[];
}

/** Reads the flags of a command; throws `invalid_input` when they are wrong. */
export function readOptions<O extends Options>(args: readonly string[], options: O, allowPositionals = false): Read<O> {
  const kinds = new Map(Object.entries(options).map(([name, { type }]) => [name, type] as const));
  const { flags, positionals: words, rest } = readArgv(args, { kinds });
  const values: Record<string, string | boolean | string[]> = {};
  const lists = new Map<string, string[]>();
  for (const { name, typed, value, lacks } of flags) {
    const kind = kinds.get(name);
    if (kind === undefined) throw invalid("arguments", `There is no flag --${typed}; known are ${known(options)}.`);
    if (lacks) throw invalid("arguments", `--${typed} needs a value (write --${typed}=… if it begins with dashes).`);
    if (kind === "boolean" && value !== undefined && value !== "true" && value !== "false")
      throw invalid("arguments", `--${typed} takes no value.`);
    const word = value ?? "";
    if (kind === "boolean") values[name] = value !== "false";
    else if (options[name]?.multiple !== true) values[name] = word;
    else {
      lists.set(name, [...(lists.get(name) ?? []), word]);
      values[name] = lists.get(name) ?? [];
    }
  }
  const positionals = [...words, ...rest];
  if (!allowPositionals && positionals.length > 0)
    throw invalid("arguments", `"${positionals.join(" ")}" belongs to no flag; known are ${known(options)}.`);
  return { values: values as Read<O>["values"], positionals };
}

const known = (options: Options): string =>
  Object.keys(options)
    .map((name) => `--${name}`)
    .join(", ") || "none";
