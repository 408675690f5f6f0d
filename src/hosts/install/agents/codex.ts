/** Codex: a table in config.toml for the tools, hooks.json beside it for the hooks, and a skill. */
import { join } from "node:path";
import { type InstallRequest, type Plan, SERVER } from "../plan.ts";
import { hookScript, server, shellWord, skill } from "../template.ts";

const EVENTS = {
  SessionStart: "startup|resume|clear|compact",
  UserPromptSubmit: undefined,
  Stop: undefined,
  SessionEnd: undefined,
};

export function planCodex(request: InstallRequest): Plan {
  const { places, scope } = request;
  const user = scope === "user";
  const settings = user ? places.codex : join(places.project, ".codex");
  const script = user ? join(places.home.root, "plugins", "codex", "hook.sh") : join(settings, SERVER, "hook.sh");
  return {
    host: [
      {
        kind: "toml",
        path: join(settings, "config.toml"),
        table: {
          at: ["mcp_servers", SERVER],
          // The first start of an owner creates its store, which takes some seconds.
          values: { ...server(request), startup_timeout_sec: 30 },
          comment: 'Butler Memory: written by "butler install codex", taken out by "butler uninstall codex".',
        },
      },
      {
        kind: "json",
        path: join(settings, "hooks.json"),
        strict: true,
        entries: Object.entries(EVENTS).map(([event, matcher]) => ({
          at: ["hooks", event],
          append: true,
          value: {
            ...(matcher === undefined ? {} : { matcher }),
            hooks: [{ type: "command", command: command(user, script, event), timeout: secondsFor(event) }],
          },
          mark: `codex ${event}`,
        })),
      },
    ],
    files: [
      hookScript(request, script),
      skill(request, join(user ? places.userHome : places.project, ".agents", "skills")),
    ],
    next: [
      "Codex runs new hooks only after you have looked at them: open Codex, type /hooks, and trust the four of Butler Memory.",
      ...(user ? [] : ["Codex reads a project's settings only in a folder you trust; butler must be on the PATH."]),
    ],
  };
}

/** At the end of a session Codex waits three seconds at most, and at each start it warns of a hook with a longer timeout. */
const secondsFor = (event: string): number => (event === "SessionEnd" ? 3 : 5);

/** A hook runs in the folder of the session, which may be below the project's. */
function command(user: boolean, script: string, event: string): string {
  if (user) return `sh ${shellWord(script)} codex ${event}`;
  const root = '"$(git rev-parse --show-toplevel 2>/dev/null || pwd)"';
  return `f=${root}/.codex/${SERVER}/hook.sh; [ ! -f "$f" ] || sh "$f" codex ${event}`;
}
