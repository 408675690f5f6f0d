/** Gemini CLI: an extension of its own for one person, which touches no file of theirs; settings.json for a project. */
import { join } from "node:path";
import { HOOK_DIALECTS } from "../../hooks/dialects.ts";
import { type Order, type Plan, SERVER } from "../plan.ts";
import { hookScript, jsonFile, server, skill } from "../template.ts";

const EVENTS = Object.keys(HOOK_DIALECTS.gemini.events);

export function planGemini(order: Order): Plan {
  return order.scope === "user" ? extension(order) : settings(order);
}

function extension(order: Order): Plan {
  const folder = join(order.places.gemini, "extensions", SERVER);
  const hooks = Object.fromEntries(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Gemini CLI fills it in.
    EVENTS.map((event) => [event, [group('"${extensionPath}/hooks/hook.sh"', event)]]),
  );
  return {
    host: [],
    files: [
      jsonFile(join(folder, "gemini-extension.json"), {
        name: SERVER,
        version: order.version,
        description: "Remembers what happened in your sessions and brings back what matters.",
        mcpServers: { [SERVER]: server(order) },
      }),
      jsonFile(join(folder, "hooks", "hooks.json"), { hooks }),
      hookScript(order, join(folder, "hooks", "hook.sh")),
      skill(order, join(folder, "skills")),
    ],
    next: ["Restart Gemini CLI; /extensions list shows butler-memory, /hooks its four hooks (from version 0.26 on)."],
  };
}

function settings(order: Order): Plan {
  const folder = join(order.places.project, ".gemini");
  const script = `"$GEMINI_PROJECT_DIR/.gemini/${SERVER}/hook.sh"`;
  return {
    host: [
      {
        kind: "json",
        path: join(folder, "settings.json"),
        strict: false,
        entries: [
          { at: ["mcpServers", SERVER], value: { ...server(order) }, mark: "--project" },
          ...EVENTS.map((event) => ({
            at: ["hooks", event],
            append: true,
            value: group(script, event),
            mark: `gemini ${event}`,
          })),
        ],
      },
    ],
    files: [hookScript(order, join(folder, SERVER, "hook.sh")), skill(order, join(folder, "skills"))],
    next: ["Gemini CLI warns once of hooks that come with a project; butler must be on the PATH."],
  };
}

/** Times are in milliseconds here. */
function group(script: string, event: string) {
  return { hooks: [{ type: "command", name: SERVER, command: `sh ${script} gemini ${event}`, timeout: 5000 }] };
}
