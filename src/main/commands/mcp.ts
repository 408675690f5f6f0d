import type { ExitCode } from "../../doors/failures.ts";
import { recordAnswers } from "../../doors/mcp/stdio/record-answers.ts";
import { tools } from "../../engine/tools/index.ts";
import type { Context } from "../program/command.ts";
import { serveLine } from "../program/mcp-line.ts";
import { version } from "../version.ts";

const BY = "butler.project in its git config, its remote, or its path";

export const usage = `butler mcp [--butler <name>] [--tools core|full] [--project auto|none|<key>] [--hooks]

Serves one butler's memory as an MCP server on stdin and stdout, for agents that start their servers themselves.
The stores stay with one owner process, which is started when none is running; any number of these may run at once.
With --project auto what is stored here belongs to the repository of this folder (${BY}), and other projects
do not see it; global memories are seen everywhere. Without --project it belongs to the butler.
--hooks says that the agent's hooks bring and keep memories, so that it is not asked to do so itself.
--after is for plugins/mcp.sh, which answers the first messages of an agent before Node is started.`;

/** Where there is a build, `butler mcp` runs mcp-line.js beside this file; this is for help, for mistakes, and for running from the sources. */
export async function run(args: readonly string[], { environment }: Context): Promise<ExitCode> {
  await serveLine(args, environment, await recordAnswers({ tools, version }));
  process.exit(0);
}
