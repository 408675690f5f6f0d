/** Runs `claude` once, without a shell. Its whole process group has ended when this returns. */
import { spawn } from "node:child_process";

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  /** Null when a signal ended it. */
  readonly code: number | null;
}

/** No answer is longer. A process that prints more is ended. */
const MOST_BYTES = 16 * 1024 * 1024;

interface Run {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly signal: AbortSignal;
}

/** Rejects with the error of `spawn` when there is no such program, and when `signal` is aborted. */
export function runProcess({ command, args, cwd, env, stdin, signal }: Run): Promise<Ran> {
  return new Promise((resolve, reject) => {
    // A process group of its own: what the program has started ends with it.
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // The group has gone already.
      }
    };
    const out: Buffer[] = [];
    const errors: Buffer[] = [];
    let bytes = 0;
    const gather = (into: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) kill();
      else into.push(chunk);
    };
    const settle = (finish: () => void) => {
      signal.removeEventListener("abort", onAbort);
      kill();
      finish();
    };
    const onAbort = () => settle(() => reject(new Error("aborted")));
    signal.addEventListener("abort", onAbort);
    child.stdout.on("data", gather(out));
    child.stderr.on("data", gather(errors));
    // A program that ends before it has read everything says why by its exit code.
    child.stdin.on("error", () => undefined);
    child.on("error", (error) => settle(() => reject(error)));
    child.on("close", (code) => {
      const [stdout, stderr] = [out, errors].map((all) => Buffer.concat(all).toString("utf8")) as [string, string];
      settle(() => resolve({ stdout, stderr, code }));
    });
    child.stdin.end(stdin);
    if (signal.aborted) onAbort();
  });
}
