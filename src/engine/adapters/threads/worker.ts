import { type ChildProcess, fork } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

/**
 * Starts the worker thread whose entry stands beside the caller: `name` without extension, `callerUrl` is the caller's
 * import.meta.url. Compiled code starts the `.js` twin; TypeScript sources (tests, development) load tsx in the thread,
 * because loaders of the parent thread do not reach a worker under Node 20.
 */
export function startWorker(callerUrl: string, name: string, workerData: unknown): Worker {
  const { entry, execArgv } = entryOf(callerUrl, name);
  return new Worker(entry, { workerData, execArgv });
}

/**
 * Of a process with one question at a time: 2 MB of room for new objects hold it, and the heap is collected when it has grown by two fifths. Left to
 * itself V8 kept up to 34 MB of a heap of which 8 are alive, more and more of it under load, in no less CPU time. Its entry may collect by itself, with `gc`.
 */
const SMALL_HEAP = ["--max-semi-space-size=2", "--heap-growing-percent=40", "--expose-gc"];

/** Starts the same entry as a process. `data` is given as JSON. Our own settings, which may hold a password, are not passed on. */
export function startProcess(callerUrl: string, name: string, data: unknown): ChildProcess {
  const { entry, execArgv } = entryOf(callerUrl, name);
  const { env } = process;
  return fork(fileURLToPath(entry), [JSON.stringify(data)], {
    execArgv: [...SMALL_HEAP, ...execArgv],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: Object.fromEntries(Object.entries(env).filter(([key]) => !/^(?:BUTLER_|NODE_OPTIONS$)/.test(key))),
  });
}

function entryOf(callerUrl: string, name: string): { entry: URL; execArgv: string[] } {
  const fromSource = callerUrl.endsWith(".ts");
  return {
    entry: new URL(`./${name}${fromSource ? ".ts" : ".js"}`, callerUrl),
    execArgv: fromSource ? ["--import", loaderUrl(callerUrl)] : [],
  };
}

/**
 * Resolved from the caller's file: a bare `tsx` would be looked up from the current folder. Registered by hand, because
 * `--import tsx` registers itself on the main thread only.
 */
function loaderUrl(callerUrl: string): string {
  // require() finds the CommonJS twin, which looks for its hooks in the wrong folder: the module stands beside it.
  const api = new URL("./index.mjs", pathToFileURL(createRequire(callerUrl).resolve("tsx/esm/api"))).href;
  return `data:text/javascript,import { register } from ${JSON.stringify(api)}; register();`;
}
