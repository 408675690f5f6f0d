/** The package's entry: a butler's memory in this process, without a daemon (`openMemory`), and sessions of agents with the memory of a home (`runSession`). */
import { join, resolve } from "node:path";
import { defaultButler, parseButlerToml } from "../daemon/config/config.ts";
import { homeAt } from "../daemon/home.ts";
import { createOwner } from "../daemon/owner/owner.ts";
import { notesInMemory } from "../daemon/schedule/notes.ts";
import type { Principal } from "../doors/backend.ts";
import { type Log, silentLog } from "../engine/adapters/log.ts";
import type { ErrorCode } from "../engine/domain/errors.ts";
import type { ToolAnswer, ToolInput, ToolName } from "../engine/tools/index.ts";
import type { Failure, Outcome } from "../engine/tools/outcome.ts";
import { type TypedCall, typedCall } from "../engine/tools/typed-call.ts";
import { projectOf } from "../hosts/projects/project.ts";
import { runSession as runWith, type SessionReport } from "../hosts/sessions/run-session.ts";
import { readEnvironment } from "./environment.ts";
import { sessionParts } from "./owner/session-parts.ts";
import { version } from "./version.ts";
import { clockAt, engineOpener } from "./wiring/engines.ts";
import { sharedModels } from "./wiring/models.ts";
import { storeJobs } from "./wiring/stores.ts";

export type { ErrorCode, Failure, Log, Outcome, SessionReport, ToolAnswer, ToolInput, ToolName };

export interface LibraryOptions {
  /** A folder for an embedded store. It belongs to this process until `close`. */
  readonly folder?: string;
  /** Or a PostgreSQL server; the memory then lives in its database `butler_<name>`. */
  readonly url?: string;
  /** Whose memory it is; default `general`. */
  readonly butler?: string;
  /**
   * The text of a butler.toml, for settings other than the defaults. Its name wins over `butler`, and memory is opt-in in it
   * as in any other: without a table `[modules.memory]` every call is refused.
   */
  readonly toml?: string;
  /** A folder with the model's files; default: the cache of this user's BUTLER_HOME. */
  readonly modelDir?: string;
  /** Fetch the model in the background when it is not on this disk; default true. Until then search is by keywords. */
  readonly fetchModel?: boolean;
  /** Fixes the clock, for tests and replays. */
  readonly now?: string;
  readonly log?: Log;
  /**
   * Whose word the calls are: `agent` (default), or `user` where the program itself takes down what a person says. Only then can
   * `speaker: "user"` be the person, whose facts no agent replaces.
   */
  readonly voice?: "agent" | "user";
}

export interface OpenedMemory {
  /**
   * Calls a tool, such as `memory_search`: its name decides which input it takes and which answer it gives. Never throws: what
   * goes wrong is an outcome.
   */
  readonly call: TypedCall<{ readonly idempotencyKey?: string; readonly session?: string }>;
  close(): Promise<void>;
}

export async function openMemory(options: LibraryOptions): Promise<OpenedMemory> {
  const { folder, url, log = silentLog, voice = "agent" } = options;
  if ((folder === undefined) === (url === undefined))
    throw new TypeError("openMemory takes a folder or a url, and not both.");
  const environment = readEnvironment();
  const config =
    options.toml === undefined ? defaultButler(options.butler ?? "general") : parseButlerToml(options.toml, "toml");
  const stores = { folder: () => join(resolve(folder ?? "."), "store"), databaseUrl: url };
  const models = { modelDir: options.modelDir ?? environment.modelDir, cacheDir: homeAt(environment.home).models };
  const clock = clockAt(options.now);
  const owner = createOwner({
    version,
    roster: [config],
    log,
    open: engineOpener({ stores, clock, log, models, fetch: options.fetchModel ?? true }),
    model: sharedModels({ folders: models, fetch: options.fetchModel ?? true, log }),
    jobs: storeJobs(stores, clock, notesInMemory()),
  });
  // Without jobs a memory would never forget.
  owner.startJobs();
  const principal: Principal = { name: "library", tenant: config.tenant, butler: "*", admin: true, voice };
  return {
    call: typedCall((request) => owner.invoke(principal, config.name, request)),
    close: () => owner.close(),
  };
}

export interface RunOptions {
  readonly prompt: string;
  /** May be left out when there is only one. */
  readonly butler?: string;
  /** Where the agent works; default: the current folder. */
  readonly folder?: string;
  /** A project's key, or `auto` for that of the folder. Left out: the butler's own memories, of no project. */
  readonly project?: string;
  /** More arguments for the agent. */
  readonly args?: readonly string[];
  /** Default: what the butler's configuration says, half an hour without it. */
  readonly timeoutMs?: number;
  /** Ends the agent. */
  readonly signal?: AbortSignal;
  /** A sentence beside the answer: that memory is out of reach. */
  readonly note?: (line: string) => void;
  /** What the agent writes to stderr. */
  readonly onOutput?: (chunk: Uint8Array) => void;
}

/**
 * `butler run` as a call: one session of a butler's agent, with its memory. The home and the roster are those of the environment.
 * Rejects when there is no such butler or its agent cannot be started; what the agent does is in the report.
 */
export function runSession(options: RunOptions): Promise<SessionReport> {
  const { prompt, butler, args = [], timeoutMs, onOutput, project } = options;
  const environment = readEnvironment();
  const folder = resolve(options.folder ?? ".");
  const key =
    project === undefined ? undefined : projectOf(folder, project === "auto" ? environment.project : project).key;
  return runWith(sessionParts(environment, options.note ?? (() => undefined)), {
    butler,
    prompt,
    folder,
    project: key,
    args,
    timeoutMs,
    signal: options.signal ?? new AbortController().signal,
    ...(onOutput === undefined ? {} : { onOutput }),
  });
}
