/** Claude Code: a plugin in a marketplace folder of its own, and two keys in its settings that register and enable it. */
import { join } from "node:path";
import { type InstallRequest, type OwnFile, type Plan, SERVER } from "../plan.ts";
import { hookScript, jsonFile, server, skill, template } from "../template.ts";

export function planClaudeCode(request: InstallRequest): Plan {
  const { places, scope } = request;
  const user = scope === "user";
  const folder = user ? join(places.home.root, "plugins", "claude-code") : join(places.project, ".claude", SERVER);
  // A relative path is resolved from the project's folder, so that committed settings work on every machine.
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
    files: plugin(request, folder),
    next: [
      "The first session only makes Claude Code take note of the plugin; from the second on, memory is there.",
      ...(user
        ? ["To have it at once: claude -p /help (it takes note and asks no model), then start your session."]
        : ["Claude Code asks each person once whether they trust this folder; the plugin needs butler on the PATH."]),
    ],
  };
}

function plugin(request: InstallRequest, folder: string): OwnFile[] {
  const inside = join(folder, SERVER);
  const from = ["claude-code", SERVER];
  const manifest = JSON.parse(template(request, ...from, ".claude-plugin", "plugin.json")) as object;
  const memory = server(request, (name, fallback) => `\${${name}:-${fallback}}`);
  return [
    {
      path: join(folder, ".claude-plugin", "marketplace.json"),
      text: template(request, "claude-code", ".claude-plugin", "marketplace.json"),
    },
    jsonFile(join(inside, ".claude-plugin", "plugin.json"), { ...manifest, version: request.version }),
    jsonFile(join(inside, ".mcp.json"), { mcpServers: { memory } }),
    { path: join(inside, "hooks", "hooks.json"), text: template(request, ...from, "hooks", "hooks.json") },
    hookScript(request, join(inside, "hooks", "hook.sh")),
    skill(request, join(inside, "skills")),
  ];
}
