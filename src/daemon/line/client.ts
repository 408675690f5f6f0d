/**
 * A memory whose stores are open in another process. Every call carries a key under which it may be repeated, so a connection
 * that breaks in the middle (the owner was killed, stopped or replaced) is a delay and never a lost or doubled write.
 */
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { ButlerInfo, Health } from "../../doors/host.ts";
import { MemoryError, reasonOf, unavailable } from "../../engine/domain/errors.ts";
import { CALL_KEY_PREFIX } from "../../engine/memory/call-key.ts";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import type { Home } from "../home.ts";
import { databaseMark, type OwnerNote } from "../owner/owner-file.ts";
import { ensureOwner, type Launch } from "../owner/start-owner.ts";
import type { JobRequest } from "../schedule/job-requests.ts";
import { askOwner } from "./ask-owner.ts";
import { OwnerError } from "./owner-error.ts";
import { requestOwner, sendToOwner } from "./request.ts";

export interface ClientOptions {
  readonly home: Home;
  /** Undefined: only an owner that is running already is spoken to. */
  readonly launch: Launch | undefined;
  readonly version: string;
  /** The caller's own BUTLER_NOW. */
  readonly now?: string | undefined;
  /** The caller's own database server; an owner with another one is not spoken to. */
  readonly databaseUrl?: string | undefined;
  /** The project of every call that names none itself. */
  readonly project?: string | undefined;
  /** An agent's session: it keeps the owner alive between calls, and speaks for its own butler only. */
  readonly agent?: boolean;
  /** How long an owner may be out of reach before a call is given up. */
  readonly reachMs?: number;
  /** How long a call may take in all; an agent's own patience commonly ends at 60 s. */
  readonly answerMs?: number;
}

export interface OwnerClient {
  butlers(): Promise<readonly ButlerInfo[]>;
  /** Never throws: what goes wrong is an outcome. */
  invoke(butler: string, request: ToolRequest): Promise<Outcome>;
  /** A question about jobs; never throws. */
  jobs(request: JobRequest): Promise<Outcome>;
  health(): Promise<Health>;
  close(): void;
}

const REACH_MS = 30_000;
const ANSWER_MS = 55_000;

export function connectOwner(options: ClientOptions): OwnerClient {
  const { home, launch, now, reachMs = REACH_MS, answerMs = ANSWER_MS } = options;
  let known: Promise<OwnerNote> | undefined;
  let attachment: Socket | undefined;
  let closed = false;

  /** One search for all calls that wait. Its result holds until a call that relied on it finds no owner. */
  function finder(until: number): () => Promise<OwnerNote> {
    let used: Promise<OwnerNote> | undefined;
    return () => {
      if (used === known) known = undefined;
      known ??= meet(until).catch((error: unknown) => {
        known = undefined;
        throw error;
      });
      used = known;
      return used;
    };
  }

  async function meet(until: number): Promise<OwnerNote> {
    const note = await ensureOwner(home, launch, until);
    if (options.databaseUrl !== undefined && note.database !== databaseMark(options.databaseUrl))
      throw otherDatabase(note);
    if (note.mode === "auto" && isOlder(note.version, options.version)) {
      // Only an older one is replaced: two clients of different versions would otherwise stop each other's owner for ever.
      const timeoutMs = Math.max(1, until - performance.now());
      await requestOwner({ socket: home.socket, method: "POST", path: "/owner/stop", timeoutMs });
      throw new OwnerError("stopping", "an owner of an older version makes way");
    }
    if (options.agent && !closed) attach();
    return note;
  }

  function attach(): void {
    if (attachment) return;
    const stream = sendToOwner({ socket: home.socket, method: "GET", path: "/owner/attach" });
    attachment = stream;
    const lost = () => {
      if (attachment === stream) attachment = undefined;
      known = undefined;
    };
    stream.on("error", lost);
    stream.on("close", lost);
    stream.resume();
    // It only tells the owner that this process lives; it must not keep this process alive.
    stream.unref();
  }

  async function reach(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown> {
    const answer = performance.now() + answerMs;
    const until = Math.min(answer, performance.now() + reachMs);
    try {
      return (await askOwner(home, { method, path, body }, { reach: until, answer }, finder(until))).json;
    } catch (error) {
      if (!(error instanceof OwnerError)) throw error;
      if (error.code === "timeout") throw tooSlow(answerMs, error);
      throw unavailable(`The memory could not be reached within ${reachMs / 1000} s.`, error);
    }
  }

  async function outcomeOf(path: string, body: unknown): Promise<Outcome> {
    try {
      return (await reach("POST", path, body)) as Outcome;
    } catch (error) {
      if (error instanceof MemoryError) return { ok: false, error: { code: error.code, message: error.message } };
      return {
        ok: false,
        error: { code: "unavailable", message: `The memory could not be reached: ${reasonOf(error)}` },
      };
    }
  }

  return {
    async butlers() {
      const { butlers } = (await reach("GET", "/owner/butlers")) as { butlers: ButlerInfo[] };
      return butlers;
    },
    async health() {
      return (await reach("GET", "/owner/health")) as Health;
    },
    async invoke(butler, request) {
      const keyed = {
        ...(options.project === undefined ? {} : { project: options.project }),
        ...request,
        idempotencyKey: request.idempotencyKey ?? `${CALL_KEY_PREFIX}${randomUUID()}`,
        ...(now === undefined ? {} : { now }),
      };
      return outcomeOf("/owner/call", { butler, agent: options.agent ?? false, request: keyed });
    },
    jobs: (request) => outcomeOf("/owner/jobs", request),
    close() {
      closed = true;
      attachment?.destroy();
    },
  };
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
