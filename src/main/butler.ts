#!/usr/bin/env node
/** The command `butler`. Start-up stays light: stores, model and doors are loaded by the commands that need them. */
import { MemoryError } from "../domain/errors.ts";
import type { ExitCode } from "../serve/failures.ts";
import type { Context } from "./command.ts";
import { readEnvironment } from "./environment.ts";
import { commands } from "./table.ts";
import { version } from "./version.ts";

const HELP_WORDS = new Set(["--help", "-h", "help"]);

async function main(argv: readonly string[]): Promise<ExitCode> {
  const [name, ...args] = argv;
  if (name === "--version" || name === "-v") return say(version);
  if (name === undefined || HELP_WORDS.has(name)) {
    const { overview } = await import("./overview.ts");
    say(overview(version));
    return name === undefined ? 2 : 0;
  }
  const context: Context = { environment: readEnvironment(), say, note };
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry) {
    const command = await entry.load();
    if (beforeDashes(args).some((word) => word === "--help" || word === "-h") && name !== "call")
      return say(command.usage);
    return command.run(args, context);
  }
  const { runWord } = await import("./run-tool.ts");
  return runWord(name, args, context);
}

/** What follows `--` is text, or for somebody else. */
function beforeDashes(words: readonly string[]): readonly string[] {
  const at = words.indexOf("--");
  return at === -1 ? words : words.slice(0, at);
}

function say(line: string): ExitCode {
  process.stdout.write(`${line}\n`);
  return 0;
}

function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function fail(error: unknown, argv: readonly string[]): Promise<ExitCode> {
  const { exitCode, hint } = await import("../serve/failures.ts");
  const known = error instanceof MemoryError;
  const code = known ? error.code : "internal";
  const message = error instanceof Error ? error.message : String(error);
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

// A reader that goes away (butler search … | head) is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

const argv = process.argv.slice(2);
const code = await main(argv).catch((error: unknown) => fail(error, argv));
// Set and not called: what is still being written to a pipe must get out first.
process.exitCode = code;
