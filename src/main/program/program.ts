/** The whole program. It starts quickly: stores, model and doors are loaded by the commands that need them. */
import { version } from "../version.ts";
import { commands } from "./command-table.ts";
import { runProgram, say } from "./run-program.ts";

const [name, ...args] = process.argv.slice(2);

if (name === "--version" || name === "-v") say(version);
else if (name === undefined || ["--help", "-h", "help"].includes(name)) {
  const { overview } = await import("../words/overview.ts");
  say(overview(version));
  process.exitCode = name === undefined ? 2 : 0;
} else
  await runProgram(
    {
      command: async (word) => (Object.hasOwn(commands, word) ? commands[word]?.load() : undefined),
      otherwise: async (word, rest, context) => (await import("./run-tool.ts")).runWord(word, rest, context),
    },
    [name, ...args],
  );
