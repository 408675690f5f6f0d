/** Claude Code: a plugin in a marketplace folder of its own, and two keys in its settings that make it known. */
import { join } from "node:path";
import { type Order, type OwnFile, type Plan, SERVER } from "../plan.ts";
import { hookScript, jsonFile, server, skill, template } from "../template.ts";

export function planClaudeCode(order: Order): Plan {
  const { places, scope } = order;
  const user = scope === "user";
  const folder = user ? join(places.home.root, "plugins", "claude-code") : join(places.project, ".claude", SERVER);
  // A relative path is taken from the project's folder, so that what is committed holds on every machine.
  const path = user ? folder : `./.claude/${SERVER}`;
  const settings = user ? join(places.claude, "settings.json") : join(places.project, ".claude", "settings.json");
  return {
    host: [
      {
        kind: "json",
        path: settings,
        strict: true,
        entries: [
          {
            at: ["extraKnownMarketplaces", SERVER],
            value: { source: { source: "directory", path } },
            mark: path,
          },
          { at: ["enabledPlugins", `${SERVER}@${SERVER}`], value: true, mark: SERVER },
        ],
      },
    ],
    files: plugin(order, folder),
    next: [
      "The first session only makes Claude Code take note of the plugin; from the second on, memory is there.",
      ...(user
        ? ["To have it at once: claude -p /help (it takes note and asks no model), then start your session."]
        : ["Claude Code asks each person once whether they trust this folder; the plugin needs butler on the PATH."]),
    ],
  };
}

function plugin(order: Order, folder: string): OwnFile[] {
  const inside = join(folder, SERVER);
  const from = ["claude-code", SERVER];
  const manifest = JSON.parse(template(order, ...from, ".claude-plugin", "plugin.json")) as object;
  const memory = server(order, (name, fallback) => `\${${name}:-${fallback}}`);
  return [
    {
      path: join(folder, ".claude-plugin", "marketplace.json"),
      text: template(order, "claude-code", ".claude-plugin", "marketplace.json"),
    },
    jsonFile(join(inside, ".claude-plugin", "plugin.json"), { ...manifest, version: order.version }),
    jsonFile(join(inside, ".mcp.json"), { mcpServers: { memory } }),
    { path: join(inside, "hooks", "hooks.json"), text: template(order, ...from, "hooks", "hooks.json") },
    hookScript(order, join(inside, "hooks", "hook.sh")),
    skill(order, join(inside, "skills")),
  ];
}
