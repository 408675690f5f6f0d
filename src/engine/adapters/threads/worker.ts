import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

/**
 * Starts the worker thread whose entry stands beside the caller: `name` without extension, `callerUrl` is the caller's
 * import.meta.url. Compiled code starts the `.js` twin; TypeScript sources (tests, development) load tsx in the thread,
 * because loaders of the parent thread do not reach a worker under Node 20.
 */
export function startWorker(callerUrl: string, name: string, workerData: unknown): Worker {
  const fromSource = callerUrl.endsWith(".ts");
  const entry = new URL(`./${name}${fromSource ? ".ts" : ".js"}`, callerUrl);
  const execArgv = fromSource ? ["--import", loaderUrl(callerUrl)] : [];
  return new Worker(entry, { workerData, execArgv });
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
