/** opencode: an entry under `mcp` for the tools, a plugin file for the events, and a skill. */
import { join } from "node:path";
import { type InstallRequest, type Plan, SERVER } from "../plan.ts";
import { hookScript, server, skill, template } from "../template.ts";

/** `exists` chooses among the names opencode knows for its settings. */
export function planOpencode(request: InstallRequest, exists: (path: string) => boolean): Plan {
  const { places, scope } = request;
  const user = scope === "user";
  const settings = user ? places.opencode : places.project;
  const folder = user ? places.opencode : join(places.project, ".opencode");
  const script = user ? join(places.home.root, "plugins", "opencode", "hook.sh") : join(folder, SERVER, "hook.sh");
  const { command, args, env } = server(request);
  const names = ["opencode.json", "opencode.jsonc"].map((name) => join(settings, name));
  const source = template(request, "opencode", "butler-memory.js");
  return {
    host: [
      {
        kind: "json",
        path: names.find(exists) ?? join(settings, "opencode.json"),
        strict: false,
        entries: [
          {
            at: ["mcp", SERVER],
            value: { type: "local", command: [command, ...args], enabled: true, ...(env ? { environment: env } : {}) },
            mark: "--project",
          },
        ],
      },
    ],
    files: [
      hookScript(request, script),
      {
        path: join(folder, "plugins", `${SERVER}.js`),
        text: user ? source.replace(/^const script = .*$/m, () => `const script = ${JSON.stringify(script)};`) : source,
      },
      skill(request, join(folder, "skills")),
    ],
    next: [
      "Restart opencode; its plugin brings memory into each session.",
      ...(user ? [] : ["Everybody who opens this project needs butler on the PATH."]),
    ],
  };
}
