#!/usr/bin/env node
/** The command `butler`. Agents wait for `butler mcp` at their start: the build makes one small file of it, which is tried before the program is loaded. */
import { existsSync } from "node:fs";

const line = new URL("./commands/mcp-line.js", import.meta.url);
const answers = new URL("./commands/mcp-answers.json", import.meta.url);
const [word, ...args] = process.argv.slice(2);
const { runLine } =
  word === "mcp" && existsSync(answers) ? ((await import(line.href)) as typeof import("./commands/mcp-line.ts")) : {};
if (!(await runLine?.(args))) await import("./program/program.ts");
