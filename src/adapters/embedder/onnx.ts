import type { Worker } from "node:worker_threads";
import { invalid, unavailable } from "../../domain/errors.ts";
import { type Log, silentLog } from "../log.ts";
import { startWorker } from "../worker.ts";
import type { ModelFiles } from "./model-files.ts";
import { guardExit, newGate } from "./native-gate.ts";
import type { FromOnnxWorker, OnnxWorkerData, ToOnnxWorker } from "./onnx-worker.ts";
import type { Embedder } from "./port.ts";

export interface OnnxEmbedder extends Embedder {
  /** False between the death of the worker and the end of its restart, and after `close()`. */
  readonly ready: boolean;
}

export interface OnnxOptions {
  /**
   * Threads of one inference; the vectors are the same bytes. Measured on two cores, 132 tokens, int8: on an idle machine two
   * threads take 7.4 ms instead of 12, but with other work on the cores they burn 28 to 34 ms of CPU instead of 13 to 15.
   */
  readonly threads?: number;
  readonly log?: Log;
}

interface Request {
  readonly id: number;
  readonly text: string;
  readonly resolve: (vector: Float32Array) => void;
  readonly reject: (error: Error) => void;
}

const CACHED_QUERIES = 256;
const CACHED_QUERY_CHARACTERS = 2_000;
const CLOSE_MS = 5_000;

/** Recent query texts and their vectors; a Map keeps the order in which keys were set. */
function queryCache() {
  const vectors = new Map<string, Float32Array>();
  return {
    get(text: string): Float32Array | undefined {
      const vector = vectors.get(text);
      if (vector === undefined) return undefined;
      vectors.delete(text);
      vectors.set(text, vector);
      return vector.slice();
    },
    set(text: string, vector: Float32Array) {
      if (text.length > CACHED_QUERY_CHARACTERS) return;
      vectors.set(text, vector.slice());
      const oldest = vectors.keys().next();
      if (vectors.size > CACHED_QUERIES && !oldest.done) vectors.delete(oldest.value);
    },
  };
}

/** Resolves when the model is loaded. Rejects with `unavailable` when it cannot be. */
export async function openOnnxEmbedder(files: ModelFiles, options: OnnxOptions = {}): Promise<OnnxEmbedder> {
  const { threads = 1, log = silentLog } = options;
  const cache = queryCache();
  const waiting: Record<"query" | "write", Request[]> = { query: [], write: [] };
  let running: Request | undefined;
  let worker: Worker | undefined;
  let ready = false;
  let closed: Promise<void> | undefined;
  let nextId = 0;
  /** Deaths since the last vector: a second one in a row means that a restart does not help. */
  let deaths = 0;

  const tell = (message: ToOnnxWorker) => worker?.postMessage(message);

  function pump() {
    if (!ready || running !== undefined) return;
    running = waiting.query.shift() ?? waiting.write.shift();
    if (running !== undefined) tell({ kind: "embed", id: running.id, text: running.text });
  }

  function rejectAll(error: Error) {
    const all = [...(running ? [running] : []), ...waiting.query.splice(0), ...waiting.write.splice(0)];
    running = undefined;
    for (const request of all) request.reject(error);
  }

  function onAnswer(message: FromOnnxWorker) {
    if (message.kind === "ready" || running === undefined || message.id !== running.id) return;
    const { resolve, reject } = running;
    running = undefined;
    if (message.kind === "vector") {
      deaths = 0;
      resolve(message.vector);
    } else {
      reject(unavailable(`The model could not embed this text: ${message.message}`));
    }
    pump();
  }

  /** Loads the model in a new thread; afterwards its death rejects whatever waits. */
  function start(): Promise<void> {
    const gate = newGate();
    const workerData: OnnxWorkerData = {
      weights: files.weights,
      tokenizer: files.tokenizer,
      dimensions: files.version.dimensions,
      threads,
      gate,
    };
    const started = startWorker(import.meta.url, "onnx-worker", workerData);
    const lift = guardExit(gate);
    worker = started;
    let lastError: unknown;
    return new Promise((loaded, failed) => {
      started.on("error", (error: unknown) => {
        lastError = error;
      });
      started.on("message", (message: FromOnnxWorker) => {
        if (message.kind === "ready") {
          ready = true;
          loaded();
        }
        onAnswer(message);
      });
      started.once("exit", (code: number) => {
        lift();
        ready = false;
        worker = undefined;
        if (closed !== undefined) return;
        deaths += 1;
        const why = lastError instanceof Error ? lastError.message : `exit code ${code}`;
        const error = unavailable(`The embedding worker ended: ${why}`, lastError);
        log.error({ why, deaths }, "the embedding worker ended");
        rejectAll(error);
        failed(error);
      });
    });
  }

  function wake() {
    if (ready) pump();
    else if (worker === undefined && deaths < 2) {
      log.warn({ deaths }, "starting the embedding worker again");
      // A failed start has already rejected every waiting request with its reason.
      start().then(pump, () => undefined);
    } else if (worker === undefined) {
      rejectAll(unavailable("The embedding worker ended twice in a row and is not started again."));
    }
  }

  async function end(): Promise<void> {
    rejectAll(unavailable("The embedder is closed."));
    const ending = worker;
    if (ending === undefined) return;
    const exited = new Promise<void>((done) => ending.once("exit", () => done()));
    tell({ kind: "close" });
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((done) => {
      timer = setTimeout(() => {
        // Not terminate(): inside a native call that would abort the whole process.
        log.error({}, "the embedding worker does not end; leaving it behind");
        ending.unref();
        done();
      }, CLOSE_MS);
    });
    await Promise.race([exited, tooLong]);
    clearTimeout(timer);
  }

  await start();

  return {
    version: files.version,
    get ready() {
      return ready && closed === undefined;
    },
    async embed(text, priority) {
      if (text.trim() === "") throw invalid("text", "There is no text to embed.");
      if (closed !== undefined) throw unavailable("The embedder is closed.");
      const known = cache.get(text);
      if (known !== undefined) return known;
      const vector = await new Promise<Float32Array>((resolve, reject) => {
        waiting[priority].push({ id: nextId++, text, resolve, reject });
        wake();
      });
      if (priority === "query") cache.set(text, vector);
      return vector;
    },
    close() {
      closed ??= end();
      return closed;
    },
  };
}
