/** What `butler mcp` does, given the answers that it knows without a memory. The build makes one file of this and of all that it imports. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { homeAt } from "../../daemon/home.ts";
import { connectOwner } from "../../daemon/line/client.ts";
import { ERAS } from "../../doors/mcp/stdio/era.ts";
import type { KnownAnswers } from "../../doors/mcp/stdio/known-answers.ts";
import { serveThinLine } from "../../doors/mcp/stdio/thin-line.ts";
import { invalid } from "../../engine/domain/errors.ts";
import type { Environment } from "../environment.ts";
import { ownerLaunch } from "../owner/launch.ts";
import { chooseButler } from "./choose-butler.ts";
import { chosenProject } from "./choose-project.ts";
import { readOptions } from "./command.ts";

const OPTIONS = {
  butler: { type: "string" },
  tools: { type: "string" },
  project: { type: "string" },
  hooks: { type: "boolean" },
  after: { type: "string" },
} as const;

/**
 * An owner takes both cores of a small machine for a second while it starts, and so does the agent: the owner begins when the agent is
 * ready, or with the first call.
 */
const CALM_MS = 1_500;

/** With `--after` a shell has answered the first messages (plugins/mcp.sh). The one that it could not answer waits at this descriptor. */
const UNANSWERED = 3;

/** Resolves when the connection is over. Throws before anything of stdin is read. */
export async function serveLine(args: readonly string[], environment: Environment, known: KnownAnswers): Promise<void> {
  const { values } = readOptions(args, OPTIONS);
  const { tools: toolset = "core", hooks = false, after = "opening" } = values;
  if (toolset !== "core" && toolset !== "full")
    throw invalid("tools", `--tools is "${toolset}"; it must be core or full.`);
  const era = ERAS.find((known) => known === after);
  if (era === undefined) throw invalid("after", `--after is "${after}"; it must be one of ${ERAS.join(", ")}.`);
  const { now, databaseUrl, autostart } = environment;
  const client = connectOwner({
    home: homeAt(environment.home),
    launch: autostart ? ownerLaunch(environment) : undefined,
    version: known.version,
    ...{ now, databaseUrl, agent: true, project: chosenProject(values.project, environment) },
  });
  const butler = await chooseButler(client, values.butler).catch((error: unknown) => {
    client.close();
    throw error;
  });
  // An agent starts this process for one session; references from several sessions are what promotes a memory.
  const session = `stdio-${randomUUID()}`;
  const { stdin, stdout } = process;
  if (values.after !== undefined) stdin.unshift(readFileSync(UNANSWERED));
  const line = serveThinLine({
    ...{ stdin, stdout, known, butler, toolset, hooks, era },
    ask: (handed, tell, signal) => client.mcp({ butler, toolset, hooks, session, ...handed }, tell, signal),
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, line.close);
  // A failure is told at the first call.
  setTimeout(() => void client.butlers().catch(() => undefined), CALM_MS).unref();
  await line.closed;
  client.close();
}
