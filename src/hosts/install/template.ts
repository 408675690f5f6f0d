/** Fills in the files of `plugins/`. For one person the paths of this machine are written down; a project gets none. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Order, OwnFile } from "./plan.ts";

const CLAUDE_PLUGIN = join("claude-code", "butler-memory");

export function template(order: Order, ...path: readonly string[]): string {
  return readFileSync(join(order.templates, ...path), "utf8");
}

/** The one script that all agents' hooks run. */
export function hookScript(order: Order, path: string): OwnFile {
  const { places, program, roster } = order;
  const here =
    order.scope === "project"
      ? {}
      : {
          baked_node: program.node,
          baked_entry: program.entry,
          baked_home: places.home.root,
          baked_socket: places.home.socket,
          baked_roster: roster ?? "",
        };
  let text = template(order, CLAUDE_PLUGIN, "hooks", "hook.sh");
  for (const [name, value] of Object.entries({ butler_name: order.butler, ...here }))
    text = text.replace(new RegExp(`^${name}='.*'$`, "m"), () => `${name}=${shellWord(value)}`);
  return { path, text, executable: true };
}

export function skill(order: Order, folder: string): OwnFile {
  const text = template(order, CLAUDE_PLUGIN, "skills", "butler-memory", "SKILL.md");
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

/** The MCP server as agents write it down. `variable` is how this agent says "from the environment, else this". */
export function server(order: Order, variable?: (name: string, fallback: string) => string): Server {
  const args = ["mcp", "--butler", order.butler, "--project", "auto"];
  if (order.scope === "project") return { command: "butler", args };
  const { places, program, roster } = order;
  const env: Record<string, string> = {};
  const put = (name: string, value: string) => {
    env[name] = variable?.(name, value) ?? value;
  };
  // Without a way to say "unless it is set", the usual place is better left unsaid.
  if (variable || places.home.root !== join(places.userHome, ".butler")) put("BUTLER_HOME", places.home.root);
  if (roster !== undefined) put("BUTLER_ROSTER", roster);
  return { command: program.node, args: [program.entry, ...args], ...(Object.keys(env).length > 0 ? { env } : {}) };
}
