/** Who started this thread or process, for code that runs as either. */
import { parentPort, workerData } from "node:worker_threads";

export interface Parent {
  /** What it gave at the start. */
  readonly data: unknown;
  post(message: object, transfer?: ArrayBuffer[]): void;
  onMessage(take: (message: never) => void): void;
  /** After this nothing more is taken, and the thread or process ends. */
  close(): void;
}

export function parent(): Parent {
  if (parentPort === null) return parentProcess();
  const port = parentPort;
  return {
    data: workerData,
    post: (message, transfer = []) => port.postMessage(message, transfer),
    onMessage: (take) => void port.on("message", take as (message: unknown) => void),
    close: () => port.close(),
  };
}

/** A process of its own ends with its parent, however that one ends: then the channel between them is closed. */
function parentProcess(): Parent {
  if (process.send === undefined)
    throw new Error("this file runs as a worker thread or as a process that another one started");
  // A terminal and a service manager signal all processes at once; the parent still needs this one for the calls under way.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
  // Nothing is written by this process, so nothing is lost; an orderly end could wait for native code.
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
  // A thread's parent is told by an event; here the reason has to be sent before the end.
  process.on("uncaughtException", (error) =>
    process.send?.({ kind: "fatal", message: error.message }, () => process.exit(1)),
  );
  return {
    data: JSON.parse(process.argv[2] ?? "null"),
    post: (message) => void process.send?.(message),
    onMessage: (take) => void process.on("message", take as (message: unknown) => void),
    close: () => process.disconnect(),
  };
}
