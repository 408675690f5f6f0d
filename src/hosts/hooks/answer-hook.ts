/**
 * Answers the hooks of agents: the start of a session gets a context block, a prompt gets memories that fit and are new to the session,
 * and at the end of a turn the transcript is announced in the spool. Every hook is answered soon: it must never hold up its agent.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextIteration } from "node:timers/promises";
import { inOrder, within } from "../../daemon/pause.ts";
import type { HookAnswer, HookRequest, Principal } from "../../doors/backend.ts";
import { OPENING_PROMPT } from "../../doors/mcp/opening-prompt.ts";
import { pathKey, projectKey } from "../../doors/project-key.ts";
import { lruCache } from "../../engine/domain/collections/lru-cache.ts";
import { boundProject, projectScope } from "../../engine/domain/scope.ts";
import type { Failure } from "../../engine/tools/outcome.ts";
import { typedCall } from "../../engine/tools/typed-call.ts";
import { decodeGiven } from "../openings/opening-file.ts";
import { projectOf } from "../projects/project.ts";
import { noteSession } from "../sessions/session-log.ts";
import { askedOf } from "../transcripts/prompt-reply.ts";
import { answerWithContext, noteGiven } from "./deliver-context.ts";
import { AGENT_NAMES, type AgentName, HOOK_DIALECTS, type HookReading, isAgentName, type Moment } from "./dialects.ts";
import { faultOf } from "./fault.ts";
import { type HookParts, type HookState, nowOf, type SessionEvent } from "./hook-state.ts";
import { lookForNotice, noticed } from "./notice.ts";
import { heldPrompts } from "./prompts.ts";
import { recordTurn } from "./record-turn.ts";
import { sessionKey } from "./spool/sessions.ts";

/**
 * `local`: the hook came over the socket of this home. Only such a hook may name files of this machine: anybody else, whatever their token
 * is for, could have another person's transcript read out to them.
 */
export type HookAnswerer = (principal: Principal, asked: HookRequest, local: boolean) => Promise<HookAnswer>;

/** Agents wait two seconds, of which starting the hook and its connection take a part. */
const LIMIT_MS = 1_400;
/** About what the model takes for a prompt. */
const NOTE_MS = 15;
/** Of a session that is forgotten here a later prompt is noted too, and the log shows the first. */
const MOST_ASKED = 1_000;

export function hookAnswerer(parts: HookParts): HookAnswerer {
  const state: HookState = {
    ...parts,
    limitMs: parts.limitMs ?? LIMIT_MS,
    noteMs: parts.noteMs ?? NOTE_MS,
    prompts: heldPrompts(),
    noticed: noticed(),
    asked: lruCache(MOST_ASKED),
    sending: new Map(),
    announced: lruCache(MOST_ASKED),
    announcing: inOrder(),
  };
  return async (principal, asked, local) => {
    const { agent, event, butler } = asked;
    if (!isAgentName(agent)) {
      const message = `There are no hooks for "${agent}"; there are for ${AGENT_NAMES.join(", ")}.`;
      return { ok: false, error: { code: "not_found", message, field: "agent" } };
    }
    const dialect = HOOK_DIALECTS[agent];
    const reading = state.remembers(butler) ? dialect.read(event, asked.input) : undefined;
    // The event is not used, or is of a newer version and cannot be read.
    if (!reading) return { ok: true, answer: dialect.answer(event, {}) };
    const refused = local
      ? undefined
      : refusedHook(principal, butler, projectElsewhere(principal, reading.folder, asked));
    if (refused !== undefined) return { ok: false, error: refused };
    return answerEvent(state, sessionEvent(state, { principal, asked, agent, reading, local }));
  };
}

/** Before anything is left for later: what a token may not store must not wait in the spool either. */
function refusedHook(principal: Principal, butler: string, project: string | undefined): Failure | undefined {
  if (principal.readOnly === true) {
    const message = "Hooks record what is said, and this token may look but not change anything; use one of a writer.";
    return { code: "forbidden", message, field: "role" };
  }
  const step = project === undefined ? butler : projectScope(butler, project);
  if (principal.scopes === undefined || principal.scopes.includes(step)) return undefined;
  const message = `This token is not for "${step}"; name a project of its scopes in X-Butler-Project.`;
  return { code: "forbidden", message, field: "scope" };
}

interface ReadHook {
  readonly principal: Principal;
  readonly asked: HookRequest;
  readonly agent: AgentName;
  readonly reading: HookReading;
  readonly local: boolean;
}

function sessionEvent(state: HookState, { principal, asked, agent, reading, local }: ReadHook): SessionEvent {
  const { event: name, butler } = asked;
  const by = local ? "local" : principal;
  const project = local
    ? projectOf(reading.folder, asked.project).key
    : projectElsewhere(principal, reading.folder, asked);
  const session = `${agent}:${reading.session}`;
  const call = typedCall((request) =>
    state.invoke(principal, butler, { ...request, session, ...(project === undefined ? {} : { project }) }),
  );
  const key = sessionKey({ by, butler, agent, session: reading.session });
  // Only a hook of this home has read a file of this home.
  const given = local ? decodeGiven(asked.given) : undefined;
  return {
    by,
    reading,
    agent,
    name,
    butler,
    project,
    ofFolder: local && asked.project === undefined,
    key,
    dialect: HOOK_DIALECTS[agent],
    given,
    gone: asked.gone,
    call,
  };
}

/** The folder is on the caller's machine, so its project is named without looking at files here. */
function projectElsewhere({ scopes }: Principal, folder: string, { butler, project }: HookRequest): string | undefined {
  const given = project === undefined ? undefined : projectKey(project);
  if (given === undefined && scopes !== undefined) return boundProject(butler, scopes);
  return given ?? pathKey("folder", folder);
}

async function answerEvent(state: HookState, event: SessionEvent): Promise<HookAnswer> {
  const { dialect, name, reading, gone } = event;
  if (gone === undefined && dialect.brings.has(reading.moment)) {
    state.pickup.heard();
    const answering = answerWithContext(state, event);
    // The model has the question by now, and what is noted while it works takes none of the agent's time.
    await nextIteration();
    await noteEvent(state, event);
    const answered = await answering;
    state.pickup.heard();
    return answered;
  }
  await noteEvent(state, event);
  if (gone !== undefined) return noteGone(state, event);
  await WITHOUT_CONTEXT[reading.moment]?.(state, event);
  return { ok: true, answer: dialect.answer(name, {}) };
}

/** Before the answer: an owner that is killed after it has lost nothing. */
async function noteEvent(state: HookState, event: SessionEvent): Promise<void> {
  const { reading, butler, ofFolder } = event;
  const recorded = recordTurn(state, event).catch((error: unknown) =>
    state.log.error({ reason: faultOf(error) }, "a transcript could not be noted"),
  );
  if (ofFolder) noteFolder(state, butler, reading.folder);
  if (reading.moment === "prompt") noteAsked(state, event);
  await recorded;
}

function noteFolder(state: HookState, butler: string, folder: string): void {
  try {
    state.seen?.(butler, folder);
  } catch (error) {
    state.log.error({ reason: faultOf(error) }, "the folder of a session could not be noted");
  }
}

/**
 * The first words of a session, for people who look at it later: as `butler run` notes them. Only of this home's own sessions: the log is
 * read by whoever has the home, and what others say is their tenant's.
 */
function noteAsked(state: HookState, { by, reading, key, butler }: SessionEvent): void {
  const said = reading.prompt === undefined ? undefined : askedOf(reading.prompt)?.text;
  if (by !== "local" || said === undefined || state.asked.get(key) === true) return;
  state.asked.set(key, true);
  const asked = { id: reading.session, key, at: nowOf(state), prompt: said };
  noteSession(state.home, { asked }, state.policy?.(butler));
}

/** Nobody reads the answer; the session's next prompt does not have to wait for the store and the model. */
function noteGone(state: HookState, event: SessionEvent): HookAnswer {
  try {
    noteGiven(state, event);
  } catch (error) {
    state.log.error({ reason: faultOf(error) }, "what a session was given could not be noted");
  }
  const { moment } = event.reading;
  if (moment === "start" || moment === "prompt") {
    void openMemory(state, event).catch(() => undefined);
    // A project whose sessions all begin before their owner has a place too that its news are counted from.
    lookForNotice(state, event).settled(false);
  }
  return { ok: true };
}

/** Hooks that called an owner ask nobody until this file is gone, or ten seconds old. */
async function openMemory({ home }: HookState, { call }: SessionEvent): Promise<void> {
  const opened = await call("memory_context", { trigger_prompt: OPENING_PROMPT, token_budget: 1 });
  if (opened.ok) rmSync(join(home.run, "called"), { force: true });
}

/** What else is done at a moment whose answer brings no context. */
const WITHOUT_CONTEXT: Partial<Record<Moment, (state: HookState, event: SessionEvent) => Promise<void> | void>> = {
  start: loadMemory,
  end: noteEnd,
};

/** Where only a prompt brings context, the store is open and the model loaded when the first one comes. */
async function loadMemory({ limitMs, log }: HookState, { call }: SessionEvent): Promise<void> {
  const looking = call("memory_context", { trigger_prompt: OPENING_PROMPT, token_budget: 1 });
  await within(limitMs, looking).catch((error: unknown) =>
    log.warn({ reason: faultOf(error) }, "memory is not there yet"),
  );
}

function noteEnd(state: HookState, { reading, key }: SessionEvent): void {
  noteSession(state.home, { ended: { id: reading.session, key, at: nowOf(state), state: "done" } });
}
