/** Runs Claude Code non-interactively: the prompt on stdin, one JSON object on stdout, and a transcript on disk. */
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { cutToFit, isTooLong, withFiles } from "./agent-files.ts";
import { type Agent, type AgentJob, type AgentResult, mcpConfig } from "./port.ts";
import { type Ran, runProcess } from "./process.ts";

export interface ClaudeOptions {
  /** A bare name is looked for on the PATH. */
  readonly command: string;
  /** From the butler's configuration and the command line; they come last, so that they override ours. */
  readonly args: readonly string[];
}

const SYSTEM = "system.txt";
const FILE_FLAG = "--append-system-prompt-file";
/** About as long as Claude Code takes to start; on two cores, work of ours in that time would slow it down. */
const STARTING_MS = 400;

const readers = () => import("../../engine/adapters/extractor/claude-cli/claude-result.ts");

export function claudeAgent({ command, args }: ClaudeOptions): Agent {
  const start = (job: AgentJob, system: readonly string[]) =>
    runProcess({ ...job, command, args: argumentsOf(job, system, args), stdin: job.prompt });

  async function ran(job: AgentJob): Promise<Ran> {
    if (job.system === "") return start(job, []);
    if (!isTooLong(job.system)) return start(job, ["--append-system-prompt", job.system]);
    const first = await withFiles({ [SYSTEM]: job.system }, (path) => start(job, [FILE_FLAG, path(SYSTEM)]));
    // Older versions do not know the option and exit at once.
    const unknown = first.exitCode !== 0 && /unknown option/i.test(first.stderrTail);
    return unknown && first.stderrTail.includes(FILE_FLAG)
      ? start(job, ["--append-system-prompt", cutToFit(job.system)])
      : first;
  }

  return {
    name: "claude-code",
    async run(job) {
      const running = ran(job);
      // Loaded while the agent works, not while it starts: the schema library takes longer to load than all the rest.
      const loading = setTimeout(() => void readers().catch(() => undefined), STARTING_MS);
      running.catch(() => undefined).finally(() => clearTimeout(loading));
      const ended = await running;
      return resultOf(ended, (await readers()).readResult, job.env);
    },
  };
}

function argumentsOf(job: AgentJob, system: readonly string[], more: readonly string[]): readonly string[] {
  return [
    "-p",
    ...system,
    ...["--output-format", "json"],
    ...["--mcp-config", mcpConfig(job.mcp)],
    "--strict-mcp-config",
    // Without a person to ask, Claude Code refuses every tool that was not allowed beforehand.
    ...(job.mcp === undefined ? [] : ["--allowedTools", "mcp__memory"]),
    ...more,
  ];
}

type Reader = typeof import("../../engine/adapters/extractor/claude-cli/claude-result.ts")["readResult"];

function resultOf(ran: Ran, read: Reader, env: AgentJob["env"]): AgentResult {
  const { stdout, ...end } = ran;
  const printed = read(stdout);
  const failed = ran.exitCode !== 0 || ran.ended !== undefined;
  // The arguments asked for another output format: stdout is the answer as it is.
  if (printed === undefined) return { ...end, result: stdout.replace(/\r?\n$/, ""), isError: failed };
  const session = typeof printed.session_id === "string" ? printed.session_id : undefined;
  const transcript = session === undefined ? undefined : transcriptOf(session, env);
  return {
    ...end,
    result: printed.result || printed.errors.join("\n"),
    isError: failed || printed.is_error || printed.subtype.startsWith("error"),
    costUsd: printed.total_cost_usd,
    ...(session === undefined ? {} : { sessionId: session }),
    ...(transcript === undefined ? {} : { transcript }),
  };
}

/** Claude Code names the folder after its working folder, by a rule that has changed: the file of the session is looked for in all of them. */
function transcriptOf(session: string, env: AgentJob["env"]): string | undefined {
  if (!/^[\w-]+$/.test(session)) return undefined;
  const projects = join(env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), ".claude"), "projects");
  try {
    return readdirSync(projects)
      .map((folder) => join(projects, folder, `${session}.jsonl`))
      .find((file) => existsSync(file));
  } catch {
    // Transcripts are switched off, or kept elsewhere.
    return undefined;
  }
}
