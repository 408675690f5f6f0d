/** How long an agent waits for its hooks, and what `butler run` adds to an agent's start: whole processes, from start to end. */
import { spawn } from "node:child_process";
import { unavailable } from "../../engine/domain/errors.ts";
import type { Program } from "../mcp-line.ts";

export interface HookScript {
  readonly path: string;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Milliseconds of one hook as its agent sees them; fails when the hook does not exit with 0. */
export async function timeHook(script: HookScript, event: string, input: object) {
  const started = performance.now();
  const child = spawn("sh", [script.path, "claude-code", event], {
    env: script.env,
    cwd: script.folder,
    stdio: ["pipe", "pipe", "ignore"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  child.stdin.end(JSON.stringify({ hook_event_name: event, ...input }));
  const code = await new Promise<number | null>((done, failed) => {
    child.once("error", failed);
    child.once("close", done);
  });
  if (code !== 0) throw unavailable(`the hook ${event} ended with ${code}`);
  return { ms: performance.now() - started, said };
}

/** Milliseconds from the start of a command until its agent runs: the agent prints the time. */
export async function agentStart(
  command: string,
  args: readonly string[],
  program: Pick<Program, "env">,
): Promise<number> {
  const started = performance.timeOrigin + performance.now();
  const child = spawn(command, args, { env: program.env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  let complaint = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    complaint += chunk;
  });
  await new Promise((done, failed) => {
    child.once("error", failed);
    child.once("close", done);
  });
  const at = Number(said.trim()) / 1e6;
  if (!Number.isFinite(at) || at === 0) throw unavailable(`the agent did not say when it began: ${said}${complaint}`);
  return at - started;
}
