/** Benchmarks and the demonstration run in a process of their own, so that no other command loads their code. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ExitCode } from "../../doors/failures.ts";

export function runLab(args: readonly string[]): Promise<ExitCode> {
  const entry = new URL(`../../lab/lab${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(entry), ...args], { stdio: "inherit" });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve((code ?? 1) as ExitCode));
  });
}
