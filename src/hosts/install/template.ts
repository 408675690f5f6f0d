/** Fills in the files of `plugins/`. An installation for one person gets the paths of this machine; one for a project gets none. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { InstallRequest, OwnFile } from "./plan.ts";

export function template(request: InstallRequest, ...path: readonly string[]): string {
  return readFileSync(join(request.templates, ...path), "utf8");
}

/** The one script that all agents' hooks run. */
export function hookScript(request: InstallRequest, path: string): OwnFile {
  const { places, program, roster } = request;
  const here =
    request.scope === "project"
      ? {}
      : {
          baked_node: program.node,
          baked_entry: program.entry,
          baked_home: places.home.root,
          baked_socket: places.home.socket,
          baked_roster: roster ?? "",
        };
  let text = template(request, "hook.sh");
  for (const [name, value] of Object.entries({ butler_name: request.butler, ...here }))
    text = text.replace(new RegExp(`^${name}='.*'$`, "m"), () => `${name}=${shellWord(value)}`);
  return { path, text, executable: true };
}

export function skill(request: InstallRequest, folder: string): OwnFile {
  const text = template(request, "skill", "SKILL.md");
  return { path: join(folder, "butler-memory", "SKILL.md"), text };
}

export const shellWord = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export const jsonFile = (path: string, value: unknown): OwnFile => ({
  path,
  text: `${JSON.stringify(value, undefined, 2)}\n`,
});

interface Server {
  readonly command: string;
  readonly args: string[];
  readonly env?: Record<string, string>;
}

/** The MCP server for an agent's settings. `variable` writes "from the environment, else this value" in the agent's syntax. */
export function server(request: InstallRequest, variable?: (name: string, fallback: string) => string): Server {
  // Of Cursor no answer comes to its hooks: what happened there is kept only if its model does so.
  const hooks = request.agent === "cursor" ? [] : ["--hooks"];
  const args = ["mcp", "--butler", request.butler, "--project", "auto", ...hooks];
  if (request.scope === "project") return { command: "butler", args };
  const { places, program, roster } = request;
  const env: Record<string, string> = {};
  const put = (name: string, value: string) => {
    env[name] = variable?.(name, value) ?? value;
  };
  // Where the syntax has no such fallback, a usual home is left out, so that BUTLER_HOME of the environment counts.
  if (variable || places.home.root !== join(places.userHome, ".butler")) put("BUTLER_HOME", places.home.root);
  if (roster !== undefined) put("BUTLER_ROSTER", roster);
  const withEnv = Object.keys(env).length > 0 ? { env } : {};
  const { node, entry, shell } = program;
  // Without our hooks this server is what starts an owner, and a shell starts none.
  if (hooks.length === 0 || shell === undefined) return { command: node, args: [entry, ...args], ...withEnv };
  return { command: shell, args: [join(request.templates, "mcp.sh"), node, entry, ...args], ...withEnv };
}
