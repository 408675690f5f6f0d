/** Answers a hook with context. What a session was given counts only when the answer has left the connection. */

import { within } from "../../daemon/pause.ts";
import type { HookAnswer } from "../../doors/backend.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import { noteSession } from "../sessions/session-log.ts";
import { faultOf } from "./fault.ts";
import { type HookState, nowOf, type SessionEvent } from "./hook-state.ts";
import { lookForNotice } from "./notice.ts";
import { contextFor, MemoryRefused, type SessionContext } from "./session-context.ts";
import { firstWarning, readShown, readWarned, writeBack, writeShown } from "./spool/sessions.ts";
import { BACK, lateWords, withoutWords } from "./warnings.ts";

/** Claude Code cuts what a hook adds at 10,000 characters. */
const MOST_CHARS = 9_500;

export async function answerWithContext(state: HookState, event: SessionEvent): Promise<HookAnswer> {
  const { home, log, limitMs } = state;
  const { dialect, name, key } = event;
  const notice = lookForNotice(state, event);
  const gathering = gather(state, event, state.sending.get(key));
  const sent = beginSending(state, key);
  try {
    const context = (await within(limitMs, gathering)) ? await gathering : undefined;
    if (!context) throw new MemoryRefused(lateReason(state));
    const { text } = context;
    const message = readWarned(home, key) === "without" ? BACK : notice.line();
    return {
      ok: true,
      answer: dialect.answer(name, { context: text === "" ? undefined : text, message }),
      settled(delivered) {
        try {
          state.outcome?.(event.butler, delivered ? "told" : "late");
          if (delivered) noteTold(state, event, context, message);
          else noteMissed(state, event, "its hook did not wait for the answer");
        } catch (error) {
          log.error({ reason: faultOf(error) }, "what a session was told could not be noted");
        } finally {
          notice.settled(delivered && message !== BACK && message !== undefined);
          sent();
        }
      },
    };
  } catch (error) {
    notice.settled(false);
    sent();
    const why = error instanceof MemoryRefused ? reasonOf(error) : faultOf(error);
    state.outcome?.(event.butler, why === lateReason(state) ? "late" : "without");
    noteMissed(state, event, why);
    return { ok: true, answer: dialect.answer(name, { message: warning(state, event, why) }) };
  }
}

async function gather(
  state: HookState,
  event: SessionEvent,
  before: Promise<void> | undefined,
): Promise<SessionContext> {
  await before;
  const { reading, key, dialect, call } = event;
  // A prompt may come before the word that its session was given an opening.
  if (reading.moment === "prompt" || reading.source === "resume") noteGiven(state, event);
  const mostChars = Math.min(MOST_CHARS, dialect.contextCharacters);
  return contextFor({ reading, shown: readShown(state.home, key), mostChars, call });
}

/**
 * The session was given an opening from its file. At a start that was just now, unless the session is resumed and has it from before; a hook
 * that says so later changes nothing.
 */
export function noteGiven(state: HookState, event: SessionEvent): void {
  const { given, reading, key, dialect, gone } = event;
  if (given === undefined) return;
  const now = gone && reading.moment === "start" && dialect.brings.has("start") && reading.source !== "resume";
  if (!now && readShown(state.home, key) !== undefined) return;
  writeShown(state.home, key, given.ids);
  noteStart(state, event, given.ids.length === 0 ? "empty" : "used");
  noteToldIds(state, event, given.ids, given.tokens);
}

/** The session's next answer waits until the returned function is called. */
function beginSending({ sending }: HookState, key: string): () => void {
  let sent: () => void = () => undefined;
  const settled = new Promise<void>((done) => {
    sent = done;
  });
  sending.set(key, settled);
  void settled.then(() => {
    if (sending.get(key) === settled) sending.delete(key);
  });
  return sent;
}

function noteTold(
  state: HookState,
  event: SessionEvent,
  { text, shown, told, tokens }: SessionContext,
  message: string | undefined,
): void {
  const first = opens(state, event);
  writeShown(state.home, event.key, shown);
  if (message === BACK) writeBack(state.home, event.key);
  if (first) noteStart(state, event, text === "" ? "empty" : "used");
  noteToldIds(state, event, told, tokens);
}

/** What a session was given, for people who look at it later. */
function noteToldIds(state: HookState, event: SessionEvent, ids: readonly string[], tokens: number): void {
  const { reading, key } = event;
  if (ids.length > 0) noteSession(state.home, { told: { id: reading.session, key, at: nowOf(state), ids, tokens } });
}

function noteMissed(state: HookState, event: SessionEvent, why: string): void {
  state.log.warn({ butler: event.butler, reason: why }, "a hook goes without memory");
  if (opens(state, event)) noteStart(state, event, why);
}

/** The session has been given no context yet, or starts over. */
const opens = ({ home }: HookState, { reading, key }: SessionEvent): boolean =>
  reading.moment === "start" || readShown(home, key) === undefined;

function noteStart(state: HookState, event: SessionEvent, memory: string): void {
  const { agent, butler, project, key, reading } = event;
  const { session: id, folder } = reading;
  const started = { id, key, butler, agent, kind: "hook", folder, at: nowOf(state), memory } as const;
  noteSession(state.home, { started: project === undefined ? started : { ...started, project } });
}

/** A session that was given its context before, or gets it with its next prompt, does not run without memory. */
function warning(state: HookState, { dialect, key }: SessionEvent, why: string): string | undefined {
  const { home } = state;
  const follows = (why === lateReason(state) && dialect.brings.has("prompt")) || readShown(home, key) !== undefined;
  if (!firstWarning(home, key, follows ? "late" : "without")) return undefined;
  return follows ? lateWords(why) : withoutWords(why);
}

const lateReason = ({ limitMs }: HookState): string => `it gave no answer within ${limitMs / 1000} s`;
