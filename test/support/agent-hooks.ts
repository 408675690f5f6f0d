/** The hooks of an agent as it runs them: the installed script, a process for each event. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { butler, type Variables, variablesFor } from "./owner-processes.ts";
import { pathOf } from "./slow-time.ts";

export interface HookEnd {
  readonly code: number | null;
  readonly stdout: string;
}

export interface AgentHooks {
  readonly project: string;
  /** Runs one hook to its end. */
  fire(event: string, input: object, more?: Variables): Promise<HookEnd>;
}

/** `butler install claude-code` into folders below the home. */
export async function installHooks(
  home: string,
  more: Variables = {},
  options: readonly string[] = [],
): Promise<AgentHooks> {
  const project = join(home, "project");
  const config = join(home, "claude");
  for (const folder of [project, config]) mkdirSync(folder, { recursive: true });
  const made = await butler(home, ["install", "claude-code", ...options], { ...more, CLAUDE_CONFIG_DIR: config });
  const script = join(home, "plugins", "claude-code", "hook.sh");
  if (made.code !== 0 || !existsSync(script)) throw new Error(`no hooks: ${made.stdout}${made.stderr}`);
  return {
    project,
    fire(event, input, extra = {}) {
      const variables = variablesFor(home, { ...more, ...extra });
      const child = spawn("sh", [script, "claude-code", event], {
        cwd: project,
        env: { ...variables, PATH: pathOf(variables.PATH ?? "", variables) },
        stdio: ["pipe", "pipe", "inherit"],
      });
      let stdout = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        stdout += chunk;
      });
      child.stdin.on("error", () => undefined);
      child.stdin.end(JSON.stringify({ hook_event_name: event, cwd: project, ...input }));
      return new Promise((done) => child.once("close", (code) => done({ code, stdout })));
    },
  };
}

export const contextIn = ({ stdout }: HookEnd): string => {
  if (stdout.trim() === "") return "";
  const answer = JSON.parse(stdout) as { hookSpecificOutput?: { additionalContext?: string } };
  return answer.hookSpecificOutput?.additionalContext ?? "";
};
