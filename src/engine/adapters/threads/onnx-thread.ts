/**
 * A model in a thread or a process of its own, which works on one question at a time. A query is sent while the one before is worked on: else the
 * model would rest until this thread, which may be busy, has read that answer. It is started again after a crash, and its end never aborts this process.
 */
import type { ChildProcess } from "node:child_process";
import { isMainThread, type Worker } from "node:worker_threads";
import { unavailable } from "../../domain/errors.ts";
import { guardExit, type NativeGate, newGate } from "../embedder/native-gate.ts";
import type { Log } from "../log.ts";

export type Priority = "query" | "write";

/** Messages of a thread that are no answers. */
export type ThreadNews = { readonly kind: "ready" } | Fatal | Failed;

/** Why a process is about to end. */
interface Fatal {
  readonly kind: "fatal";
  readonly message: string;
}

interface Failed {
  readonly kind: "failed";
  readonly id: number;
  readonly message: string;
}

export interface OnnxThread<Question, Answer> {
  /** False between the death of the worker and the end of its restart, and after `close()`. */
  readonly ready: boolean;
  readonly closed: boolean;
  /** Questions without an answer yet. */
  readonly pending: number;
  /** Queries overtake waiting writes. */
  ask(question: Question, priority: Priority): Promise<Answer>;
  close(): Promise<void>;
}

type Host = Worker | ChildProcess;

interface ThreadParts {
  /** As in "the embedding worker ended". */
  readonly name: string;
  /** A process of its own, which an exit need not wait for. */
  readonly apart?: boolean;
  readonly start: (gate: NativeGate) => Host;
  readonly log: Log;
}

interface Request<Question, Answer> {
  readonly id: number;
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

interface ThreadState<Question, Answer> {
  readonly parts: ThreadParts;
  readonly waiting: Readonly<Record<Priority, Request<Question, Answer>[]>>;
  /** What was sent and has no answer yet, in that order. */
  readonly sent: Request<Question, Answer>[];
  worker: Host | undefined;
  ready: boolean;
  closed: Promise<void> | undefined;
  nextId: number;
  /** Deaths since the last answer: a second one in a row means that a restart does not help. */
  deaths: number;
}

const CLOSE_MS = 5_000;
/** The one that is worked on, and one that waits there. Of more those behind could not go to another thread. */
const MOST_SENT = 2;

const isFatal = (message: object): message is Fatal => "kind" in message && message.kind === "fatal";
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
  const state: ThreadState<Question, Answer> = {
    parts,
    waiting: { query: [], write: [] },
    sent: [],
    worker: undefined,
    ready: false,
    closed: undefined,
    nextId: 0,
    deaths: 0,
  };
  await start(state);
  return {
    get ready() {
      return state.ready && state.closed === undefined;
    },
    get closed() {
      return state.closed !== undefined;
    },
    get pending() {
      return state.sent.length + state.waiting.query.length + state.waiting.write.length;
    },
    async ask(question, priority) {
      if (state.closed !== undefined) throw unavailable(`The ${parts.name} worker is closed.`);
      return new Promise<Answer>((resolve, reject) => {
        state.waiting[priority].push({ id: state.nextId++, question, resolve, reject });
        sendOrRestart(state);
      });
    },
    close() {
      state.closed ??= end(state);
      return state.closed;
    },
  };
}

/** Loads the model in a new thread; when the thread ends later, whatever waits is rejected. */
function start<Q extends object, A extends { readonly id: number }>(state: ThreadState<Q, A>): Promise<void> {
  switchTelemetryOff();
  const gate = newGate();
  const worker = state.parts.start(gate);
  const lift = state.parts.apart ? () => undefined : guardExit(gate);
  state.worker = worker;
  let lastError: unknown;
  return new Promise((loaded, failed) => {
    const gone = (why: string) => {
      lift();
      state.ready = false;
      if (state.worker === worker) state.worker = undefined;
      if (state.closed === undefined) failed(died(state, why, lastError));
    };
    worker.on("error", (error: Error) => {
      lastError = error;
      // A process that could not be started has no exit either.
      if ("pid" in worker && worker.pid === undefined) gone(error.message);
    });
    worker.on("message", (message: ThreadNews | A) => {
      if ("id" in message) return settle(state, message);
      if (isFatal(message)) {
        lastError = new Error(message.message);
        return;
      }
      state.ready = true;
      loaded();
    });
    worker.once("exit", (code: number | null) =>
      gone(lastError instanceof Error ? lastError.message : `exit code ${code}`),
    );
  });
}

/** What cannot be sent is answered by the end of the thread or process, which is reported on its own. */
function post(worker: Host | undefined, message: object): void {
  if (worker === undefined) return;
  if ("postMessage" in worker) worker.postMessage(message);
  else worker.send(message, () => undefined);
}

function died<Q extends object, A>(state: ThreadState<Q, A>, why: string, cause: unknown): Error {
  const { name, log } = state.parts;
  state.deaths += 1;
  const error = unavailable(`The ${name} worker ended: ${why}`, cause);
  log.error({ why, deaths: state.deaths }, `the ${name} worker ended`);
  rejectAll(state, error);
  return error;
}

/** Hands the answer to whoever asked, and sends the next question. */
function settle<Q extends object, A extends { readonly id: number }>(state: ThreadState<Q, A>, message: Failed | A) {
  const [answered] = state.sent;
  if (answered === undefined || message.id !== answered.id) return;
  state.sent.shift();
  // Before the answer is worked with, which takes this thread some time.
  sendNext(state);
  if (isFailed(message)) answered.reject(unavailable(`The ${state.parts.name} worker failed: ${message.message}`));
  else {
    state.deaths = 0;
    answered.resolve(message);
  }
}

function sendNext<Q extends object, A>(state: ThreadState<Q, A>) {
  const { waiting, sent } = state;
  if (!state.ready) return;
  for (;;) {
    // A write waits until nothing else is sent: a query that comes next finds one of them before it, not two.
    const next =
      sent.length < MOST_SENT
        ? (waiting.query.shift() ?? (sent.length === 0 ? waiting.write.shift() : undefined))
        : undefined;
    if (next === undefined) return;
    sent.push(next);
    post(state.worker, { ...next.question, id: next.id });
  }
}

function sendOrRestart<Q extends object, A extends { readonly id: number }>(state: ThreadState<Q, A>) {
  const { deaths, parts } = state;
  if (state.ready) return sendNext(state);
  // A worker that is still loading sends what waits when it is ready.
  if (state.worker !== undefined) return;
  if (deaths >= 2)
    return rejectAll(state, unavailable(`The ${parts.name} worker ended twice in a row and is not started again.`));
  parts.log.warn({ deaths }, `starting the ${parts.name} worker again`);
  start(state).then(
    () => sendNext(state),
    // A failed start has already rejected every waiting request with its reason.
    () => undefined,
  );
}

function rejectAll<Q extends object, A>(state: ThreadState<Q, A>, error: Error) {
  const { sent, waiting } = state;
  const all = [...sent.splice(0), ...waiting.query.splice(0), ...waiting.write.splice(0)];
  for (const request of all) request.reject(error);
}

async function end<Q extends object, A>(state: ThreadState<Q, A>): Promise<void> {
  const { worker, parts } = state;
  rejectAll(state, unavailable(`The ${parts.name} worker is closed.`));
  if (worker === undefined) return;
  const exited = new Promise<void>((done) => worker.once("exit", () => done()));
  post(worker, { kind: "close" });
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<void>((done) => {
    timer = setTimeout(() => {
      // A thread is not terminated: inside a native call that would abort the whole process.
      parts.log.error({}, `the ${parts.name} worker does not end; leaving it behind`);
      if ("kill" in worker) worker.kill("SIGKILL");
      else worker.unref();
      done();
    }, CLOSE_MS);
  });
  await Promise.race([exited, tooLong]);
  clearTimeout(timer);
}
