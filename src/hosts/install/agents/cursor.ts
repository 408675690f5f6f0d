/** Cursor: mcp.json for the tools, hooks.json for the hooks, and a skill. */
import { join } from "node:path";
import { HOOK_DIALECTS } from "../../hooks/dialects.ts";
import { type InstallRequest, type Plan, SERVER } from "../plan.ts";
import { hookScript, server, shellWord, skill } from "../template.ts";

export function planCursor(request: InstallRequest): Plan {
  const { places, scope } = request;
  const user = scope === "user";
  const settings = user ? places.cursor : join(places.project, ".cursor");
  const script = user ? join(places.home.root, "plugins", "cursor", "hook.sh") : join(settings, SERVER, "hook.sh");
  // Hooks of a project run in its folder.
  const word = user ? shellWord(script) : `.cursor/${SERVER}/hook.sh`;
  return {
    host: [
      {
        kind: "json",
        path: join(settings, "mcp.json"),
        strict: false,
        entries: [{ at: ["mcpServers", SERVER], value: { ...server(request) }, mark: "--project" }],
      },
      {
        kind: "json",
        path: join(settings, "hooks.json"),
        strict: false,
        entries: [
          { at: ["version"], value: 1, mark: "1", keptFor: "hooks" },
          ...Object.keys(HOOK_DIALECTS.cursor.events).map((event) => ({
            at: ["hooks", event],
            append: true,
            value: { command: `sh ${word} cursor ${event}`, timeout: 5 },
            mark: `cursor ${event}`,
          })),
        ],
      },
    ],
    files: [hookScript(request, script), skill(request, join(settings, "skills"))],
    next: [
      "Cursor takes context at the start of a session only; for one prompt the agent asks with the memory tools.",
      "Some versions of the editor drop what a sessionStart hook says; the tools work in any case.",
      ...(user ? [] : ["Everybody who opens this project needs butler on the PATH."]),
    ],
  };
}
