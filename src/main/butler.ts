#!/usr/bin/env node
/**
 * The command `butler`. Agents wait for `butler mcp` and for an owner that starts, people for commands: the build makes a few files of each,
 * which are loaded instead of the program's own.
 */
import { existsSync } from "node:fs";

const line = new URL("./commands/mcp-line.js", import.meta.url);
const answers = new URL("./commands/mcp-answers.json", import.meta.url);
const owner = new URL("../owner/own-program.js", import.meta.url);
const program = new URL("../owner/program.js", import.meta.url);
const [word, ...args] = process.argv.slice(2);
const { runLine } =
  word === "mcp" && existsSync(answers) ? ((await import(line.href)) as typeof import("./commands/mcp-line.ts")) : {};
const bundle = word === "own" ? owner : program;
if (!(await runLine?.(args))) {
  if (existsSync(bundle)) await import(bundle.href);
  else await import("./program/program.ts");
}
