/** What the commands install and uninstall read from their arguments and surroundings. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { homeAt } from "../../daemon/home.ts";
import { invalid, unavailable } from "../../engine/domain/errors.ts";
import { AGENT_NAMES, type AgentName, isAgentName } from "../../hosts/hooks/dialects.ts";
import { placesOf } from "../../hosts/install/agents/agents.ts";
import type { Places, Program, Scope } from "../../hosts/install/plan.ts";
import { projectOf } from "../../hosts/projects/project.ts";
import type { Environment } from "../environment.ts";

export function readPlaces(environment: Environment): Places {
  return placesOf(homeAt(environment.home), homedir(), projectOf(process.cwd()).root, process.env);
}

export function readAgent(name: string): AgentName {
  if (isAgentName(name)) return name;
  throw invalid("agent", `There is no agent "${name}" here; known are ${AGENT_NAMES.join(", ")}.`);
}

export function readScope(text: string | undefined, places: Places): Scope {
  const scope = text ?? "user";
  if (scope !== "user" && scope !== "project")
    throw invalid("scope", `--scope is "${text}"; it must be user or project.`);
  if (scope === "project" && places.project === places.userHome)
    throw invalid("scope", "This folder is your home, not a project; leave --scope project out, or go to the project.");
  return scope;
}

const SHELL = "/bin/sh";

/** How an agent starts this program later: with this node, and with the built program also when it runs from its sources. */
export function ownProgram(): { program: Program; templates: string } {
  const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
  const entry = join(root, "dist", "main", "butler.js");
  if (!existsSync(entry))
    throw unavailable(`${entry} is not there, and agents would start it; npm run build makes it.`);
  const shell = existsSync(SHELL) ? SHELL : undefined;
  return { program: { node: process.execPath, entry, shell }, templates: join(root, "plugins") };
}
