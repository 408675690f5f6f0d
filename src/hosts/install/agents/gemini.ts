/** Gemini CLI: for one person an extension, which changes no file of theirs; for a project its settings.json. */
import { join } from "node:path";
import { HOOK_DIALECTS } from "../../hooks/dialects.ts";
import { type InstallRequest, type Plan, SERVER } from "../plan.ts";
import { hookScript, jsonFile, server, skill } from "../template.ts";

const EVENTS = Object.keys(HOOK_DIALECTS.gemini.events);

export function planGemini(request: InstallRequest): Plan {
  return request.scope === "user" ? extension(request) : settings(request);
}

function extension(request: InstallRequest): Plan {
  const folder = join(request.places.gemini, "extensions", SERVER);
  const hooks = Object.fromEntries(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Gemini CLI fills it in.
    EVENTS.map((event) => [event, [group('"${extensionPath}/hooks/hook.sh"', event)]]),
  );
  return {
    host: [],
    files: [
      jsonFile(join(folder, "gemini-extension.json"), {
        name: SERVER,
        version: request.version,
        description: "Remembers what happened in your sessions and brings back what matters.",
        mcpServers: { [SERVER]: server(request) },
      }),
      jsonFile(join(folder, "hooks", "hooks.json"), { hooks }),
      hookScript(request, join(folder, "hooks", "hook.sh")),
      skill(request, join(folder, "skills")),
    ],
    next: ["Restart Gemini CLI; /extensions list shows butler-memory, /hooks its four hooks (from version 0.26 on)."],
  };
}

function settings(request: InstallRequest): Plan {
  const folder = join(request.places.project, ".gemini");
  const script = `"$GEMINI_PROJECT_DIR/.gemini/${SERVER}/hook.sh"`;
  return {
    host: [
      {
        kind: "json",
        path: join(folder, "settings.json"),
        strict: false,
        entries: [
          { at: ["mcpServers", SERVER], value: { ...server(request) }, mark: "--project" },
          ...EVENTS.map((event) => ({
            at: ["hooks", event],
            append: true,
            value: group(script, event),
            mark: `gemini ${event}`,
          })),
        ],
      },
    ],
    files: [hookScript(request, join(folder, SERVER, "hook.sh")), skill(request, join(folder, "skills"))],
    next: ["Gemini CLI warns once of hooks that come with a project; butler must be on the PATH."],
  };
}

/** Times are in milliseconds here. */
function group(script: string, event: string) {
  return { hooks: [{ type: "command", name: SERVER, command: `sh ${script} gemini ${event}`, timeout: 5000 }] };
}
