/**
 * Runs one session of an agent with a butler's memory: it gets the context, and what happened is stored. A fault of memory costs the agent two
 * seconds at most, and its answer and exit code are returned unchanged.
 */
import { randomUUID } from "node:crypto";
import type { OwnerAccess } from "../../daemon/line/ask-owner.ts";
import { within } from "../../daemon/pause.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import { reasonOf, unavailable } from "../../engine/domain/errors.ts";
import { type Agent, AgentCannotStart, type AgentJob, type AgentResult, type McpEndpoint } from "../agents/port.ts";
import { askOwner, SESSION_WAIT_MS } from "./ask-owner.ts";
import type { AgentRuntime, PreparedSession } from "./prepare.ts";

export interface SessionParts extends OwnerAccess {
  readonly roster: string | undefined;
  readonly clock: Clock;
  /** The caller's own BUTLER_NOW. */
  readonly now: string | undefined;
  /** The environment of the calling process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  agent(runtime: Pick<AgentRuntime, "command" | "args">): Promise<Agent>;
  mcp(butler: string, project: string | undefined): McpEndpoint;
  /** One sentence beside the answer. */
  note(line: string): void;
}

export interface SessionRequest {
  /** Undefined: the only butler there is. */
  readonly butler: string | undefined;
  readonly prompt: string;
  readonly folder: string;
  /** The project's key; undefined: the session belongs to none. */
  readonly project: string | undefined;
  /** More arguments for the agent. */
  readonly args: readonly string[];
  /** Undefined: what the butler's configuration says. */
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
  /** What the agent writes to stderr. */
  onOutput?(chunk: Uint8Array): void;
  /** The answer, before anything is stored. */
  onResult?(result: string): void;
}

export interface SessionReport {
  readonly result: string;
  readonly exit_code: number;
  /** False when the agent itself says that it failed, or was ended. */
  readonly ok: boolean;
  readonly ended?: "timeout" | "stopped";
  readonly session: string;
  readonly butler: string;
  readonly agent: string;
  readonly project?: string;
  /** "used", "empty", "off", or why there was none. */
  readonly memory: string;
  /** How many episodes it became. */
  readonly episodes: number;
  /** True when they wait in the spool until an owner stores them. */
  readonly later?: true;
  readonly seconds: number;
  readonly cost_usd?: number;
}

/** Loading modules while the agent starts would slow it down by 30 ms on two cores, so they are loaded this much later. */
const STARTING_MS = 250;

/** Rejects when there is no such butler, or when its agent cannot be started. */
export async function runSession(parts: SessionParts, request: SessionRequest): Promise<SessionReport> {
  const session = randomUUID();
  const prepared = await prepare(parts, request, session);
  const { butler, runtime, project, why, off } = prepared;
  const memory = off === true ? "off" : (why ?? (prepared.context?.text ? "used" : "empty"));
  if (why !== undefined && off !== true) parts.note(`Memory is unavailable (${why}); this session runs without it.`);
  const agent = await parts.agent({ command: runtime.command, args: [...runtime.args, ...request.args] });
  const begun = performance.now();
  const at = parts.clock.now().toISOString();
  const running = agent.run(jobOf(parts, request, prepared, session));
  // While the agent works, the modules that are needed after its end are loaded.
  await within(STARTING_MS, running).catch(() => undefined);
  const [{ noteSession }, { LATER, storeSession }] = await Promise.all([
    import("./session-log.ts"),
    import("./store.ts"),
  ]);
  const { prompt, folder } = request;
  const known = { butler, agent: agent.name, folder, ...(project === undefined ? {} : { project }) };
  noteSession(parts.home, { started: { id: session, kind: "run", prompt, at, memory, ...known } });
  const { ids = [], tokens = 0 } = prepared.context ?? {};
  if (ids.length > 0) noteSession(parts.home, { told: { id: session, at, ids, tokens } });
  const took = () => Math.round(performance.now() - begun);
  const note = (state: "done" | "failed", more: object) =>
    noteSession(parts.home, { ended: { id: session, at: parts.clock.now().toISOString(), state, ...more } });
  let ended: AgentResult;
  try {
    ended = await running;
  } catch (error) {
    note("failed", { duration_ms: took() });
    throw error instanceof AgentCannotStart ? unavailable(error.message, error) : error;
  }
  const duration = took();
  const ok = ended.exitCode === 0 && !ended.isError;
  request.onResult?.(ended.result);
  // A failed session is not stored, and neither is one that consolidation has started to learn from memories.
  const kept = ok && off !== true && parts.env.BUTLER_CONSOLIDATION !== "1";
  const stored = kept
    ? await storeSession(parts, { ...known, project, session, prompt, at, now: parts.now, ended })
    : { episodes: 0, tools: [] };
  // Episodes in the spool are counted when they are stored.
  const later = stored.episodes === LATER;
  const episodes = later ? 0 : stored.episodes;
  const cost = ended.costUsd === undefined ? {} : { cost_usd: ended.costUsd };
  const counted = later ? {} : { episodes };
  const { tools } = stored;
  note(ok ? "done" : "failed", { exit_code: ended.exitCode, duration_ms: duration, ...counted, tools, ...cost });
  return {
    result: ended.result,
    exit_code: ended.exitCode,
    ok,
    ...(ended.ended === undefined ? {} : { ended: ended.ended }),
    session,
    butler,
    agent: agent.name,
    ...(project === undefined ? {} : { project }),
    memory,
    episodes,
    ...(later ? { later: true as const } : {}),
    seconds: duration / 1_000,
    ...cost,
  };
}

/** From the owner, or from the butler's own files when it does not answer in time. */
async function prepare(parts: SessionParts, request: SessionRequest, session: string): Promise<PreparedSession> {
  const { butler, prompt, folder, project } = request;
  const { now } = parts;
  try {
    const question = { butler, prompt, folder, project, session, now };
    return checkedAnswer(
      await askOwner(parts, "/owner/desk/session", question, performance.now() + SESSION_WAIT_MS),
      project,
    );
  } catch (error) {
    const { ownConfiguration } = await import("./fallback.ts");
    const own = ownConfiguration(parts.roster, parts.home.settingsFile, butler);
    return { ...own, why: inBrackets(reasonOf(error)), ...(project === undefined ? {} : { project }) };
  }
}

/** Made fit for the brackets of a sentence: one line, not too long, without a full stop. */
const inBrackets = (why: string) => why.replace(/\s+/g, " ").slice(0, 300).replace(/\.$/, "");

/** Longer than any token budget allows: such a block is a fault and would displace the prompt. */
const LONGEST_BLOCK = 500_000;

function checkedAnswer(answer: unknown, project: string | undefined): PreparedSession {
  const prepared = (answer ?? {}) as PreparedSession & { readonly error?: { readonly message?: string } };
  if (prepared.error !== undefined) throw new Error(prepared.error.message ?? "the owner refused");
  const { butler, runtime, instructions, context, why, off } = prepared;
  const sound =
    typeof butler === "string" &&
    typeof runtime?.command === "string" &&
    Array.isArray(runtime.args) &&
    typeof instructions === "string" &&
    (context === null || typeof context?.text === "string");
  if (!sound) throw new Error("the owner's answer was not understood");
  if (context !== null && context.text.length > LONGEST_BLOCK) throw new Error("the owner's answer was too long");
  const { timeout_seconds = 1_800, env = {} } = runtime as Partial<AgentRuntime>;
  return {
    butler,
    runtime: { ...runtime, timeout_seconds, env },
    instructions,
    context,
    ...(typeof why === "string" ? { why: inBrackets(why) } : {}),
    ...(off === true ? { off } : {}),
    ...(project === undefined ? {} : { project }),
  };
}

function jobOf(parts: SessionParts, request: SessionRequest, prepared: PreparedSession, session: string): AgentJob {
  const { butler, runtime, instructions, context, project, why, off } = prepared;
  const block = context?.text ?? "";
  return {
    prompt: request.prompt,
    system: instructions === "" || block === "" ? instructions + block : `${instructions}\n\n${block}`,
    // Without a memory in reach every call of its tools would hold the agent up.
    mcp: off === true || why !== undefined ? undefined : parts.mcp(butler, project),
    session,
    folder: request.folder,
    env: environmentOf(parts.env, runtime.env, session),
    timeoutMs: request.timeoutMs ?? runtime.timeout_seconds * 1_000,
    signal: request.signal,
    ...(request.onOutput === undefined ? {} : { onOutput: request.onOutput }),
  };
}

/** A fixed clock and a project are for this call alone; the marks of an agent session in which we were started would confuse the new one. */
const NOT_FOR_AGENTS = new Set(["BUTLER_NOW", "BUTLER_PROJECT", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"]);

function environmentOf(
  own: SessionParts["env"],
  configured: Readonly<Record<string, string>>,
  session: string,
): Record<string, string> {
  const kept = Object.entries(own).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !NOT_FOR_AGENTS.has(entry[0]),
  );
  return { ...Object.fromEntries(kept), ...configured, BUTLER_SPAWNED: "1", BUTLER_SESSION: session };
}
