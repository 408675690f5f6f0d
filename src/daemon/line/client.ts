/**
 * A memory whose stores are open in another process. Every call carries a key under which it may be repeated, so a connection
 * that breaks in the middle (the owner was killed, stopped or replaced) is a delay and never a lost or doubled write.
 */
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { ButlerInfo, Health } from "../../doors/backend.ts";
import { MemoryError, reasonOf, unavailable } from "../../engine/domain/errors.ts";
import { CALL_KEY_PREFIX } from "../../engine/memory/call-key.ts";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import type { Home } from "../home.ts";
import { databaseMark, type OwnerNote } from "../owner/owner-file.ts";
import { ensureOwner, type Launch } from "../owner/start-owner.ts";
import type { JobRequest } from "../schedule/job-requests.ts";
import { askOwner, type Deadlines, untilAnswered } from "./ask-owner.ts";
import { askMcp, MCP_PATH, type McpQuestion } from "./mcp-request.ts";
import { OwnerError } from "./owner-error.ts";
import { requestOwner, sendToOwner } from "./request.ts";

export interface ClientOptions {
  readonly home: Home;
  /** Undefined: only an owner that is running already is asked. */
  readonly launch: Launch | undefined;
  readonly version: string;
  /** The caller's own BUTLER_NOW. */
  readonly now?: string | undefined;
  /** The caller's own database server; an owner with another one is not asked. */
  readonly databaseUrl?: string | undefined;
  /** The project of every call that names none itself. */
  readonly project?: string | undefined;
  /** An agent's session: it keeps the owner alive between calls, and may call its own butler only. */
  readonly agent?: boolean;
  /** How long an owner may be out of reach before a call is given up. */
  readonly reachMs?: number;
  /** How long a call may take in all; agents commonly give up after 60 s. */
  readonly answerMs?: number;
}

export interface OwnerClient {
  butlers(): Promise<readonly ButlerInfo[]>;
  /** Never throws: what goes wrong is an outcome. */
  invoke(butler: string, request: ToolRequest): Promise<Outcome>;
  /** A request of the agent's connection: resolves with the response as JSON, and fails with the sentence why there is none. */
  mcp(
    question: Omit<McpQuestion, "key" | "project" | "now">,
    tell: (notification: string) => void,
    signal: AbortSignal,
  ): Promise<string>;
  /** A question about jobs; never throws. */
  jobs(request: JobRequest): Promise<Outcome>;
  health(): Promise<Health>;
  close(): void;
}

const REACH_MS = 30_000;
const ANSWER_MS = 55_000;

interface ClientState {
  readonly options: ClientOptions;
  /** The owner that was found, or the search for it; every call uses the same. */
  known: Promise<OwnerNote> | undefined;
  attachment: Socket | undefined;
  closed: boolean;
}

export function connectOwner(options: ClientOptions): OwnerClient {
  const state: ClientState = { options, known: undefined, attachment: undefined, closed: false };
  return {
    async butlers() {
      const { butlers } = (await ask(state, "GET", "/owner/butlers")) as { butlers: ButlerInfo[] };
      return butlers;
    },
    async health() {
      return (await ask(state, "GET", "/owner/health")) as Health;
    },
    async invoke(butler, request) {
      const { project, now, agent = false } = options;
      const keyed = {
        ...(project === undefined ? {} : { project }),
        ...request,
        idempotencyKey: request.idempotencyKey ?? `${CALL_KEY_PREFIX}${randomUUID()}`,
        ...(now === undefined ? {} : { now }),
      };
      return askForOutcome(state, "/owner/call", { butler, agent, request: keyed });
    },
    mcp(question, tell, signal) {
      const { home, project, now } = options;
      const key = `${CALL_KEY_PREFIX}${randomUUID()}`;
      const body: McpQuestion = { ...question, project, now, key };
      const request = { socket: home.socket, method: "POST", path: MCP_PATH, body } as const;
      return beforeDeadlines(state, (deadlines, find) =>
        untilAnswered(home, deadlines, find, (timeoutMs) => askMcp({ ...request, timeoutMs, signal, tell })),
      );
    },
    jobs: (request) => askForOutcome(state, "/owner/jobs", request),
    close() {
      state.closed = true;
      state.attachment?.destroy();
    },
  };
}

async function askForOutcome(state: ClientState, path: string, body: unknown): Promise<Outcome> {
  try {
    return (await ask(state, "POST", path, body)) as Outcome;
  } catch (error) {
    if (error instanceof MemoryError) return { ok: false, error: { code: error.code, message: error.message } };
    return {
      ok: false,
      error: { code: "unavailable", message: `The memory could not be reached: ${reasonOf(error)}` },
    };
  }
}

async function ask(state: ClientState, method: "GET" | "POST", path: string, body?: unknown): Promise<unknown> {
  const { home } = state.options;
  return (await beforeDeadlines(state, (...limits) => askOwner(home, { method, path, body }, ...limits))).json;
}

async function beforeDeadlines<T>(
  state: ClientState,
  work: (deadlines: Deadlines, find: () => Promise<OwnerNote>) => Promise<T>,
): Promise<T> {
  const { reachMs = REACH_MS, answerMs = ANSWER_MS } = state.options;
  const answer = performance.now() + answerMs;
  const reach = Math.min(answer, performance.now() + reachMs);
  try {
    return await work({ reach, answer }, finder(state, reach));
  } catch (error) {
    if (!(error instanceof OwnerError)) throw error;
    if (error.code === "timeout") throw tooSlow(answerMs, error);
    throw unavailable(`The memory could not be reached within ${reachMs / 1000} s.`, error);
  }
}

/** One search for all calls that wait. Its result holds until a call that relied on it finds no owner. */
function finder(state: ClientState, until: number): () => Promise<OwnerNote> {
  let used: Promise<OwnerNote> | undefined;
  return () => {
    if (used === state.known) state.known = undefined;
    state.known ??= findFitting(state, until).catch((error: unknown) => {
      state.known = undefined;
      throw error;
    });
    used = state.known;
    return used;
  };
}

/** Finds or starts an owner that this client may use. */
async function findFitting(state: ClientState, until: number): Promise<OwnerNote> {
  const { home, launch, databaseUrl, version, agent } = state.options;
  const note = await ensureOwner(home, launch, until);
  if (databaseUrl !== undefined && note.database !== databaseMark(databaseUrl)) throw otherDatabase(note);
  if (note.mode === "auto" && isOlder(note.version, version)) {
    // Only an older one is replaced: two clients of different versions would otherwise stop each other's owner for ever.
    const timeoutMs = Math.max(1, until - performance.now());
    await requestOwner({ socket: home.socket, method: "POST", path: "/owner/stop", timeoutMs });
    throw new OwnerError("stopping", "an owner of an older version makes way");
  }
  if (agent && !state.closed) attach(state);
  return note;
}

/** An open connection by which the owner knows that this process lives. */
function attach(state: ClientState): void {
  if (state.attachment) return;
  const stream = sendToOwner({ socket: state.options.home.socket, method: "GET", path: "/owner/attach" });
  state.attachment = stream;
  const lost = () => {
    if (state.attachment === stream) state.attachment = undefined;
    state.known = undefined;
  };
  stream.on("error", lost);
  stream.on("close", lost);
  stream.resume();
  // It must not keep this process alive.
  stream.unref();
}

/** Going on would put memories where their owner does not look for them. */
function otherDatabase(note: OwnerNote): MemoryError {
  const words = `The owner of the memory (process ${note.pid}) uses another database than BUTLER_DATABASE_URL names here`;
  return unavailable(`${words}; end it with "butler stop", or leave BUTLER_DATABASE_URL out.`);
}

function tooSlow(answerMs: number, cause: unknown): MemoryError {
  const seconds = answerMs / 1000;
  return unavailable(
    `The memory is busy and gave no answer within ${seconds} s; the call may still be carried out.`,
    cause,
  );
}

function isOlder(theirs: string, ours: string): boolean {
  const left = theirs.split(/[.-]/, 3).map(Number);
  const right = ours.split(/[.-]/, 3).map(Number);
  for (let index = 0; index < 3; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
