/** A model in a thread of its own: one question at a time, a restart after a death, and an end that never aborts the process. */
import { isMainThread, type Worker } from "node:worker_threads";
import { unavailable } from "../../domain/errors.ts";
import { guardExit, type NativeGate, newGate } from "../embedder/native-gate.ts";
import type { Log } from "../log.ts";

export type Priority = "query" | "write";

/** What every thread may say beside its answers. */
export type ThreadNews = { readonly kind: "ready" } | Failed;

interface Failed {
  readonly kind: "failed";
  readonly id: number;
  readonly message: string;
}

export interface OnnxThread<Question, Answer> {
  /** False between the death of the worker and the end of its restart, and after `close()`. */
  readonly ready: boolean;
  readonly closed: boolean;
  /** Queries overtake waiting writes. */
  ask(question: Question, priority: Priority): Promise<Answer>;
  close(): Promise<void>;
}

interface ThreadParts {
  /** As in "the embedding worker ended". */
  readonly name: string;
  readonly start: (gate: NativeGate) => Worker;
  readonly log: Log;
}

interface Request<Question, Answer> {
  readonly id: number;
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

const CLOSE_MS = 5_000;

const isFailed = (message: object): message is Failed => "kind" in message && message.kind === "failed";

/**
 * onnxruntime-node writes a device id and queues events for its maker under the user's cache folder, unless this variable
 * stands in the environment of the process before it loads. Only the main thread's `process.env` is that environment: a
 * worker's is a copy, of which native code sees nothing (tried: neither setting it there nor the worker's `env` option helps).
 */
function switchTelemetryOff(): void {
  const { env } = process;
  if (isMainThread) env.ORT_DISABLE_TELEMETRY = "1";
  else if (env.ORT_DISABLE_TELEMETRY !== "1")
    throw unavailable(
      "A model is not loaded here, because its library would report to its maker and a worker thread cannot stop that: " +
        "set ORT_DISABLE_TELEMETRY=1 in the main thread before this one starts.",
    );
}

/** Resolves when the model is loaded. Rejects with `unavailable` when it cannot be. */
export async function openOnnxThread<Question extends object, Answer extends { readonly id: number }>(
  parts: ThreadParts,
): Promise<OnnxThread<Question, Answer>> {
  const { name, log } = parts;
  const waiting: Record<Priority, Request<Question, Answer>[]> = { query: [], write: [] };
  let running: Request<Question, Answer> | undefined;
  let worker: Worker | undefined;
  let ready = false;
  let closed: Promise<void> | undefined;
  let nextId = 0;
  /** Deaths since the last answer: a second one in a row means that a restart does not help. */
  let deaths = 0;

  function pump() {
    if (!ready || running !== undefined) return;
    running = waiting.query.shift() ?? waiting.write.shift();
    if (running !== undefined) worker?.postMessage({ ...running.question, id: running.id });
  }

  function rejectAll(error: Error) {
    const all = [...(running ? [running] : []), ...waiting.query.splice(0), ...waiting.write.splice(0)];
    running = undefined;
    for (const request of all) request.reject(error);
  }

  function onAnswer(message: Failed | Answer) {
    if (running === undefined || message.id !== running.id) return;
    const { resolve, reject } = running;
    running = undefined;
    if (isFailed(message)) reject(unavailable(`The ${name} worker failed: ${message.message}`));
    else {
      deaths = 0;
      resolve(message);
    }
    pump();
  }

  /** Loads the model in a new thread; afterwards its death rejects whatever waits. */
  function start(): Promise<void> {
    switchTelemetryOff();
    const gate = newGate();
    const started = parts.start(gate);
    const lift = guardExit(gate);
    worker = started;
    let lastError: unknown;
    return new Promise((loaded, failed) => {
      started.on("error", (error: unknown) => {
        lastError = error;
      });
      started.on("message", (message: ThreadNews | Answer) => {
        if ("id" in message) return onAnswer(message);
        ready = true;
        loaded();
      });
      started.once("exit", (code: number) => {
        lift();
        ready = false;
        worker = undefined;
        if (closed !== undefined) return;
        deaths += 1;
        const why = lastError instanceof Error ? lastError.message : `exit code ${code}`;
        const error = unavailable(`The ${name} worker ended: ${why}`, lastError);
        log.error({ why, deaths }, `the ${name} worker ended`);
        rejectAll(error);
        failed(error);
      });
    });
  }

  function wake() {
    if (ready) pump();
    else if (worker === undefined && deaths < 2) {
      log.warn({ deaths }, `starting the ${name} worker again`);
      // A failed start has already rejected every waiting request with its reason.
      start().then(pump, () => undefined);
    } else if (worker === undefined) {
      rejectAll(unavailable(`The ${name} worker ended twice in a row and is not started again.`));
    }
  }

  async function end(): Promise<void> {
    rejectAll(unavailable(`The ${name} worker is closed.`));
    const ending = worker;
    if (ending === undefined) return;
    const exited = new Promise<void>((done) => ending.once("exit", () => done()));
    ending.postMessage({ kind: "close" });
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((done) => {
      timer = setTimeout(() => {
        // Not terminate(): inside a native call that would abort the whole process.
        log.error({}, `the ${name} worker does not end; leaving it behind`);
        ending.unref();
        done();
      }, CLOSE_MS);
    });
    await Promise.race([exited, tooLong]);
    clearTimeout(timer);
  }

  await start();

  return {
    get ready() {
      return ready && closed === undefined;
    },
    get closed() {
      return closed !== undefined;
    },
    async ask(question, priority) {
      if (closed !== undefined) throw unavailable(`The ${name} worker is closed.`);
      return new Promise<Answer>((resolve, reject) => {
        waiting[priority].push({ id: nextId++, question, resolve, reject });
        wake();
      });
    },
    close() {
      closed ??= end();
      return closed;
    },
  };
}
