/** Claude Code without a person beside it: the prompt on stdin, one JSON object back, and a transcript on disk. */
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { cutToFit, isTooLong, withFiles } from "./agent-files.ts";
import { type Agent, type AgentJob, type AgentResult, mcpConfig } from "./port.ts";
import { type Ran, runProcess } from "./process.ts";

export interface ClaudeOptions {
  /** Looked for on the PATH when it is a bare name. */
  readonly command: string;
  /** From the butler's configuration and the command line; they come last, so that they win. */
  readonly args: readonly string[];
}

const SYSTEM = "system.txt";
const FILE_FLAG = "--append-system-prompt-file";
/** About as long as it takes to start; on two cores what we do meanwhile would come out of its time. */
const STARTING_MS = 400;

const readers = () => import("../../engine/adapters/extractor/claude-cli/claude-result.ts");

export function claudeAgent({ command, args }: ClaudeOptions): Agent {
  const start = (job: AgentJob, system: readonly string[]) =>
    runProcess({ ...job, command, args: argumentsOf(job, system, args), stdin: job.prompt });

  async function ran(job: AgentJob): Promise<Ran> {
    if (job.system === "") return start(job, []);
    if (!isTooLong(job.system)) return start(job, ["--append-system-prompt", job.system]);
    const first = await withFiles({ [SYSTEM]: job.system }, (path) => start(job, [FILE_FLAG, path(SYSTEM)]));
    // Older versions have no such option and say so at once.
    const unknown = first.exitCode !== 0 && /unknown option/i.test(first.stderrTail);
    return unknown && first.stderrTail.includes(FILE_FLAG)
      ? start(job, ["--append-system-prompt", cutToFit(job.system)])
      : first;
  }

  return {
    name: "claude-code",
    async run(job) {
      const running = ran(job);
      // Loaded while the agent works, and not while it starts: its schema library takes longer to load than all the rest.
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
    // Without a person to ask, every tool that was not allowed beforehand is refused.
    ...(job.mcp === undefined ? [] : ["--allowedTools", "mcp__memory"]),
    ...more,
  ];
}

type Reader = typeof import("../../engine/adapters/extractor/claude-cli/claude-result.ts")["readResult"];

function resultOf(ran: Ran, read: Reader, env: AgentJob["env"]): AgentResult {
  const { stdout, ...end } = ran;
  const printed = read(stdout);
  const failed = ran.exitCode !== 0 || ran.ended !== undefined;
  // Somebody asked for another format in the arguments: what was printed is the answer.
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

/** Claude Code names the folder after the place it worked in, by a rule that has changed: the session's name is looked for. */
function transcriptOf(session: string, env: AgentJob["env"]): string | undefined {
  if (!/^[\w-]+$/.test(session)) return undefined;
  const projects = join(env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), ".claude"), "projects");
  try {
    return readdirSync(projects)
      .map((folder) => join(projects, folder, `${session}.jsonl`))
      .find((file) => existsSync(file));
  } catch {
    // It was told to keep none, or keeps them elsewhere.
    return undefined;
  }
}
