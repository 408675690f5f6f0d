import { friendlyHelp } from "../../doors/cli/cli.ts";
import { commands } from "../program/command-table.ts";

export function overview(version: string): string {
  const shown = Object.entries(commands).filter(([, entry]) => !entry.hidden);
  const width = Math.max(...shown.map(([name]) => name.length));
  return [
    `butler ${version}: a memory for AI agents that learns, forgets and explains itself`,
    "",
    "Use",
    friendlyHelp(),
    "",
    "Run",
    ...shown.map(([name, entry]) => `  butler ${name.padEnd(width)}  ${entry.about}`),
    "",
    "Every tool is a command too: butler memory_search --query tea",
    "--butler <name> says whose memory; it may be left out when there is one butler. --json prints JSON.",
    "butler <command> --help tells more. Data lies in BUTLER_HOME, ~/.butler if not set.",
  ].join("\n");
}
