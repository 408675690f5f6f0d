/** Which agents are on this machine, and which of them have memory. */
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { AGENT_NAMES, type AgentName } from "../hooks/dialects.ts";
import { AGENTS } from "./agents/agents.ts";
import { installFolder, readManifest } from "./manifest.ts";
import type { Places, Scope } from "./plan.ts";

export interface Installed {
  readonly scope: Scope;
  readonly root: string;
  readonly butler: string;
  readonly version: string;
  /** False: a file of the installation is missing; installing again restores it. */
  readonly complete: boolean;
}

export interface AgentStatus {
  readonly agent: AgentName;
  readonly title: string;
  /** Its command is on the PATH, or its settings are there. */
  readonly present: boolean;
  readonly installed: readonly Installed[];
}

export function agentStatus(places: Places, path: string): AgentStatus[] {
  return AGENT_NAMES.map((agent) => {
    const { title, command, settings } = AGENTS[agent];
    const scopes: readonly Scope[] = ["user", "project"];
    return {
      agent,
      title,
      present: existsSync(settings(places)) || isOnPath(command, path),
      installed: scopes.flatMap((scope) => {
        const manifest = readManifest(installFolder(places, agent, scope));
        if (manifest === undefined) return [];
        const { root, butler, version, host, files } = manifest;
        return [{ scope, root, butler, version, complete: [...host, ...files].every((one) => existsSync(one.path)) }];
      }),
    };
  });
}

export function isOnPath(command: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return folder !== "";
    } catch {
      return false;
    }
  });
}
