/**
 * Any program as an agent. `{prompt}`, `{system}`, `{mcp_config}` (the path of a file) and `{session}` in its arguments are filled in;
 * without `{prompt}` the prompt goes to its stdin. What it prints is its answer.
 */
import { basename } from "node:path";
import { cutToFit, withFiles } from "./agent-files.ts";
import { type Agent, type AgentJob, mcpConfig } from "./port.ts";
import { runProcess } from "./process.ts";

export interface CommandOptions {
  readonly command: string;
  readonly args: readonly string[];
}

const SYSTEM = "system.txt";
const MCP = "mcp.json";

export function commandAgent({ command, args }: CommandOptions): Agent {
  const takesPrompt = args.some((argument) => argument.includes("{prompt}"));
  return {
    name: basename(command),
    run: (job) =>
      withFiles({ [SYSTEM]: job.system, [MCP]: mcpConfig(job.mcp) }, async (path) => {
        const files = { BUTLER_SYSTEM_FILE: path(SYSTEM), BUTLER_MCP_CONFIG: path(MCP), BUTLER_SESSION: job.session };
        const ran = await runProcess({
          ...job,
          command,
          args: args.map((argument) => filled(argument, job, path(MCP))),
          env: { ...job.env, ...files },
          stdin: takesPrompt ? "" : job.prompt,
        });
        const { stdout, ...end } = ran;
        return { ...end, result: stdout.replace(/\r?\n$/, ""), isError: ran.exitCode !== 0 || ran.ended !== undefined };
      }),
  };
}

/** All replaced in one pass, so that `{system}` in a prompt stays as it is. */
function filled(argument: string, { prompt, system, session }: AgentJob, config: string): string {
  const values: Readonly<Record<string, string>> = {
    "{prompt}": prompt,
    "{system}": cutToFit(system),
    "{mcp_config}": config,
    "{session}": session,
  };
  return argument.replace(/\{(?:prompt|system|mcp_config|session)\}/g, (name) => values[name] ?? name);
}
