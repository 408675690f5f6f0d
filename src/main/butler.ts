#!/usr/bin/env node
import { commands } from "./program/command-table.ts";
/** The command `butler`. It starts quickly: stores, model and doors are loaded by the commands that need them. */
import { runProgram, say } from "./program/run-program.ts";
import { version } from "./version.ts";

const [name, ...args] = process.argv.slice(2);

if (name === "--version" || name === "-v") say(version);
else if (name === undefined || ["--help", "-h", "help"].includes(name)) {
  const { overview } = await import("./words/overview.ts");
  say(overview(version));
  process.exitCode = name === undefined ? 2 : 0;
} else
  await runProgram(
    {
      command: async (word) => (Object.hasOwn(commands, word) ? commands[word]?.load() : undefined),
      otherwise: async (word, rest, context) => (await import("./program/run-tool.ts")).runWord(word, rest, context),
    },
    [name, ...args],
  );
