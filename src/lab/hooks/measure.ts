/** How long an agent waits for its hooks, and what `butler run` adds to an agent's start: whole processes, from start to end. */
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
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

/** What answers nothing, on a socket of its own: the floor of every hook is a shell and a curl that ask it. */
export async function openFloor(folder: string): Promise<Floor> {
  const socket = join(folder, "floor.sock");
  const path = join(folder, "floor.sh");
  rmSync(socket, { force: true });
  writeFileSync(path, FLOOR_SCRIPT);
  const server = createServer((asked, answer) => {
    asked.resume().once("end", () => answer.writeHead(204).end());
  });
  await new Promise<void>((listening) => server.listen(socket, listening));
  return {
    script: (env) => ({ path, folder, env: { ...env, BUTLER_FLOOR: socket } }),
    close: () => new Promise((closed) => server.close(() => closed())),
  };
}

interface Floor {
  script(env: NodeJS.ProcessEnv): HookScript;
  close(): Promise<void>;
}

/** One shell, one `cat`, one curl: no hook that a shell answers takes fewer. */
const FLOOR_SCRIPT = `input=$(cat)
answer=$(printf '%s' "$input" | LC_ALL=C curl -q -s --noproxy '*' --unix-socket "$BUTLER_FLOOR" --max-time 1.5 --data-binary @- http://localhost/)
exit 0
`;

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
