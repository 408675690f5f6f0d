import { randomUUID } from "node:crypto";
import type { ExitCode } from "../../doors/failures.ts";
import { serveMcpStdio } from "../../doors/mcp/mcp-stdio.ts";
import { invalid } from "../../engine/domain/errors.ts";
import { tools } from "../../engine/tools/index.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { chooseButler } from "../program/choose-butler.ts";
import { chosenProject } from "../program/choose-project.ts";
import { type Context, readOptions } from "../program/command.ts";
import { version } from "../version.ts";

const BY = "butler.project in its git config, its remote, or its path";

export const usage = `butler mcp [--butler <name>] [--tools core|full] [--project auto|none|<key>]

Serves one butler's memory as an MCP server on stdin and stdout, for agents that start their servers themselves.
The stores stay with one owner process, which is started when none is running; any number of these may run at once.
With --project auto what is stored here belongs to the repository of this folder (${BY}), and other projects
do not see it; global memories are seen everywhere. Without --project it belongs to the butler.`;

export async function run(args: readonly string[], { environment }: Context): Promise<ExitCode> {
  const { values } = readOptions(args, {
    butler: { type: "string" },
    tools: { type: "string" },
    project: { type: "string" },
  });
  const toolset = values.tools ?? "core";
  if (toolset !== "core" && toolset !== "full")
    throw invalid("tools", `--tools is "${toolset}"; it must be core or full.`);
  const project = chosenProject(values.project, environment);
  const client = ownerClient(environment, { agent: true, project });
  // With a name there is nothing to wait for: the owner starts beside the handshake, and a failure is told at the first call.
  if (values.butler !== undefined) void client.butlers().catch(() => undefined);
  const butler = await chooseButler(client, values.butler);
  // An agent starts this process for one session; references from several sessions are what promotes a memory.
  const session = `stdio-${randomUUID()}`;
  const door = serveMcpStdio({
    stdin: process.stdin,
    stdout: process.stdout,
    tools,
    toolset,
    butler,
    version,
    call: (request) => client.invoke(butler, { session, ...request }),
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void door.close());
  await door.closed;
  client.close();
  process.exit(0);
}
