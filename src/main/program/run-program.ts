/** Runs one command of a program: help and answers go to stdout, failures are a sentence or JSON, with an exit code. */
import type { ExitCode } from "../../doors/failures.ts";
import { MemoryError, messageOf } from "../../engine/domain/errors.ts";
import { readEnvironment } from "../environment.ts";
import type { CommandModule, Context } from "./command.ts";

export interface Program {
  /** The command of that name; undefined when there is none. */
  command(name: string): Promise<CommandModule | undefined>;
  /** What is done with a first word that is no command. */
  otherwise(name: string, args: readonly string[], context: Context): Promise<ExitCode>;
}

/** Sets the exit code and does not exit: output to a pipe may still be under way. */
export async function runProgram(program: Program, argv: readonly string[]): Promise<void> {
  // A reader that goes away (butler search … | head) is not an error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  process.exitCode = await runCommand(program, argv).catch((error: unknown) => fail(error, argv));
}

async function runCommand(program: Program, [name = "", ...args]: readonly string[]): Promise<ExitCode> {
  const context: Context = { environment: readEnvironment(), say, note, ask };
  const command = await program.command(name);
  if (command === undefined) return program.otherwise(name, args, context);
  const asksForHelp = beforeDashes(args).some((word) => word === "--help" || word === "-h");
  if (asksForHelp && name !== "call") return say(usageOf(command.usage, name, args[0]));
  return command.run(args, context);
}

/** Of a command that has a part for each of its kinds (butler bench) the part of this kind, otherwise all. */
export function usageOf(usage: string, name: string, kind = ""): string {
  const parts = usage.split(new RegExp(`\\n\\n(?=butler ${name} )`));
  const part = parts.find((each) => each.startsWith(`butler ${name} ${kind} `));
  return parts.length > 1 && part !== undefined ? part : usage;
}

/** What follows `--` is text, or the arguments of another program. */
function beforeDashes(words: readonly string[]): readonly string[] {
  const at = words.indexOf("--");
  return at === -1 ? words : words.slice(0, at);
}

export function say(line: string): ExitCode {
  process.stdout.write(`${line}\n`);
  return 0;
}

function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Loaded only where something is asked. */
const ask = async (question: string): Promise<string | undefined> => (await import("./ask.ts")).askOnTerminal(question);

async function fail(error: unknown, argv: readonly string[]): Promise<ExitCode> {
  const { exitCode, hint } = await import("../../doors/failures.ts");
  const known = error instanceof MemoryError;
  const code = known ? error.code : "internal";
  const message = messageOf(error);
  if (beforeDashes(argv).some((word) => word === "--json" || word.startsWith("--json="))) {
    say(
      JSON.stringify({
        error: { code, message, ...(known && error.field !== undefined ? { field: error.field } : {}) },
      }),
    );
  } else {
    note(known ? message : `butler failed: ${message}`);
    if (code === "invalid_input") note(hint(code));
  }
  return exitCode(code);
}
