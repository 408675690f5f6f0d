/**
 * Claude Code: hooks in its settings, the server where "claude mcp add" would write it, and a skill. A plugin would hold all three, but runs
 * from the second session on only, and each session starts later with it.
 */
import { join } from "node:path";
import { HOOK_DIALECTS } from "../../hooks/dialects.ts";
import { type InstallRequest, type Plan, SERVER } from "../plan.ts";
import { hookScript, server, shellWord, skill } from "../template.ts";

export function planClaudeCode(request: InstallRequest, exists: (path: string) => boolean): Plan {
  const { places, scope } = request;
  const user = scope === "user";
  const settings = user ? places.claude : join(places.project, ".claude");
  const script = user ? join(places.home.root, "plugins", "claude-code", "hook.sh") : join(settings, SERVER, "hook.sh");
  const word = user ? shellWord(script) : `"$CLAUDE_PROJECT_DIR/.claude/${SERVER}/hook.sh"`;
  const memory = server(request, (name, fallback) => `\${${name}:-${fallback}}`);
  return {
    host: [
      {
        kind: "json",
        path: join(settings, "settings.json"),
        strict: true,
        entries: Object.keys(HOOK_DIALECTS["claude-code"].events).map((event) => ({
          at: ["hooks", event],
          append: true,
          value: { hooks: [{ type: "command", command: `sh ${word} claude-code ${event}`, timeout: 5 }] },
          mark: `claude-code ${event}`,
        })),
      },
      {
        kind: "json",
        path: user ? serversOf(request, exists) : join(places.project, ".mcp.json"),
        strict: true,
        entries: [{ at: ["mcpServers", SERVER], value: { type: "stdio", ...memory }, mark: "--project" }],
      },
    ],
    files: [hookScript(request, script), skill(request, join(settings, "skills"))],
    next: user
      ? ["The next session has memory; /hooks shows its four hooks and /mcp its server, butler-memory."]
      : [
          "Claude Code asks each person once whether they trust this folder and its server; butler must be on the PATH.",
        ],
  };
}

/** Old versions kept what belongs to the person in another file; it counts as long as it is there. */
function serversOf({ places }: InstallRequest, exists: (path: string) => boolean): string {
  const old = join(places.claude, ".config.json");
  return exists(old) ? old : places.claudeState;
}
