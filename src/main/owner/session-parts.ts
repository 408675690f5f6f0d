/** What a session of `butler run` needs: this home, this program as the agent's MCP server, and the agent that a command names. */
import { basename } from "node:path";
import { homeAt } from "../../daemon/home.ts";
import { fixedClock, systemClock } from "../../engine/adapters/clock.ts";
import type { SessionParts } from "../../hosts/sessions/run-session.ts";
import type { Environment } from "../environment.ts";
import { ownerLaunch, programCommand } from "./launch.ts";

export function sessionParts(environment: Environment, note: (line: string) => void): SessionParts {
  const { home, roster, now, databaseUrl, autostart } = environment;
  const entry = programCommand();
  return {
    home: homeAt(home),
    roster,
    now,
    databaseUrl,
    clock: now === undefined ? systemClock : fixedClock(new Date(now)),
    env: process.env,
    launch: autostart ? async () => ownerLaunch(environment) : undefined,
    agent: async (runtime) =>
      /^claude(\.\w+)?$/i.test(basename(runtime.command))
        ? (await import("../../hosts/agents/claude.ts")).claudeAgent(runtime)
        : (await import("../../hosts/agents/command.ts")).commandAgent(runtime),
    mcp: (butler, project) => ({
      command: entry.command,
      args: [...entry.args, "mcp", "--butler", butler, ...(project === undefined ? [] : ["--project", project])],
      env: endpointVariables(environment),
    }),
    note,
  };
}

/** Agents differ in which variables they pass on to their MCP servers. Secrets are left out: these go into the agent's arguments. */
function endpointVariables({ home, roster, modelDir, autostart }: Environment): Record<string, string> {
  return {
    BUTLER_HOME: home,
    ...(roster === undefined ? {} : { BUTLER_ROSTER: roster }),
    ...(modelDir === undefined ? {} : { BUTLER_MODEL_DIR: modelDir }),
    ...(autostart ? {} : { BUTLER_AUTOSTART: "0" }),
  };
}
