/** Runs an agent's program without a shell, and ends everything that it started when it has ended. */
import { type ChildProcess, spawn } from "node:child_process";
import { statSync } from "node:fs";
import { constants } from "node:os";
import { errorCode } from "../../engine/domain/errors.ts";
import { AgentCannotStart, type AgentJob } from "./port.ts";

export interface Run extends Pick<AgentJob, "folder" | "env" | "timeoutMs" | "signal" | "onOutput"> {
  readonly command: string;
  readonly args: readonly string[];
  readonly stdin: string;
}

export interface Ran {
  readonly stdout: string;
  readonly stderrTail: string;
  readonly exitCode: number;
  readonly signal?: string;
  readonly ended?: "timeout" | "stopped";
}

/** Output beyond this is read and dropped, so that the agent is not blocked and can end. */
const MOST_BYTES = 64 * 1024 * 1024;
const TAIL_BYTES = 8 * 1024;
/** Between SIGTERM and SIGKILL. */
const GRACE_MS = 5_000;
/** Processes that are left when the agent has ended get this long to end by themselves, and then this long after SIGTERM. */
const GROUP_END_MS = 300;
const GROUP_KILL_MS = 2_000;
const POLL_MS = 20;

export function runProcess(run: Run): Promise<Ran> {
  const { command, args, folder: cwd, env } = run;
  return new Promise((resolve, reject) => {
    const complaint = folderFault(cwd);
    if (complaint !== undefined) return reject(new AgentCannotStart(complaint));
    let child: ChildProcess;
    try {
      // A process group of its own, so that all of it can be ended. Ctrl-C in a terminal then reaches only us, and we pass it on.
      child = spawn(command, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    } catch (error) {
      return reject(cannotStart(command, error));
    }
    const { words, tail } = gathered(child, run.onOutput);
    const stop = stopper(child, run);
    child.on("error", (error) => {
      stop.done();
      reject(cannotStart(command, error));
    });
    child.once("exit", (code, signal) => {
      stop.left();
      void endGroup(child).then(() => {
        stop.done();
        const ended = stop.why();
        resolve({
          stdout: words(),
          stderrTail: tail(),
          exitCode: code ?? 128 + (signal ? (constants.signals[signal] ?? 0) : 0),
          ...(signal === null ? {} : { signal }),
          ...(ended === undefined ? {} : { ended }),
        });
      });
    });
    child.stdin?.end(run.stdin);
  });
}

function gathered(child: ChildProcess, onOutput: Run["onOutput"]) {
  const out: Buffer[] = [];
  let bytes = 0;
  let tail = Buffer.alloc(0);
  child.stdout?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MOST_BYTES) out.push(chunk);
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
    onOutput?.(chunk);
  });
  // A broken pipe to an agent that ends early is no error: its exit code says why it ended.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => undefined);
  return { words: () => Buffer.concat(out).toString("utf8"), tail: () => tail.toString("utf8") };
}

function stopper(child: ChildProcess, { timeoutMs, signal }: Run) {
  let why: Ran["ended"];
  let last: NodeJS.Timeout | undefined;
  const end = (reason: "timeout" | "stopped", how: NodeJS.Signals) => {
    why ??= reason;
    killGroup(child, how);
    last ??= setTimeout(() => killGroup(child, "SIGKILL"), GRACE_MS);
  };
  const onAbort = () => end("stopped", signalOf(signal.reason));
  // When this process ends first, nothing else would end the agent.
  const onExit = () => killGroup(child, "SIGKILL");
  process.once("exit", onExit);
  const timer = setTimeout(() => end("timeout", "SIGTERM"), Math.min(timeoutMs, 2 ** 31 - 1));
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  return {
    why: () => why,
    /** The agent itself has ended: its timeout is over. */
    left: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
    done: () => {
      clearTimeout(timer);
      clearTimeout(last);
      signal.removeEventListener("abort", onAbort);
      process.removeListener("exit", onExit);
    },
  };
}

const signalOf = (reason: unknown): NodeJS.Signals =>
  typeof reason === "string" && Object.hasOwn(constants.signals, reason) ? (reason as NodeJS.Signals) : "SIGTERM";

/** Resolves when no process of the group is left and its output has been read. */
async function endGroup(child: ChildProcess): Promise<void> {
  const closed = new Promise<void>((done) => child.once("close", () => done()));
  if (await staysAlive(child, GROUP_END_MS)) {
    killGroup(child, "SIGTERM");
    if (await staysAlive(child, GROUP_KILL_MS)) {
      killGroup(child, "SIGKILL");
      await staysAlive(child, GROUP_END_MS);
    }
  }
  // A process that left the group may still hold our pipes; it is not waited for.
  let late: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((done) => {
    late = setTimeout(done, 500);
  });
  await Promise.race([closed, enough]);
  clearTimeout(late);
  child.stdout?.destroy();
  child.stderr?.destroy();
}

async function staysAlive(child: ChildProcess, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  while (killGroup(child, 0)) {
    if (performance.now() >= until) return true;
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  return false;
}

/** False when the group no longer exists. */
function killGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return child.pid !== undefined && process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}

function folderFault(folder: string): string | undefined {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return undefined;
  return `The agent cannot work in ${folder}: it is not a folder.`;
}

function cannotStart(command: string, error: unknown): AgentCannotStart {
  const code = errorCode(error) ?? String(error);
  const words: Readonly<Record<string, string>> = {
    ENOENT: "there is no such program on the PATH; [butler.runtime] command in butler.toml names it",
    EACCES: "it may not be executed",
    E2BIG: "its arguments are too long; without {prompt} in args the prompt goes to its stdin",
  };
  return new AgentCannotStart(`The agent "${command}" cannot be started: ${words[code] ?? code}.`, { cause: error });
}
