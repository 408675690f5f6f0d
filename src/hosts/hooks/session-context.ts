/** The context that a session is given: a block when it starts, and with a prompt the memories that fit it and are new to the session. */

import { OPENING_PROMPT } from "../../doors/mcp/opening-prompt.ts";
import { isSmallTalk } from "../../engine/domain/learning/idle-prompt.ts";
import { withoutPrivate } from "../../engine/domain/text/private.ts";
import { clip } from "../../engine/domain/text/text.ts";
import type { ToolInput } from "../../engine/tools/index.ts";
import type { TypedCall } from "../../engine/tools/typed-call.ts";
import { sessionIdOf } from "../transcripts/episodes.ts";
import type { HookReading } from "./dialects.ts";

export interface ContextRequest {
  readonly reading: HookReading;
  /** Ids of the memories that this session was given; undefined when no answer has ever reached it. */
  readonly shown: readonly string[] | undefined;
  /** The most characters that its agent takes in one answer. */
  readonly mostChars: number;
  readonly call: TypedCall;
}

/** Counts as given once it has reached the session, which only the caller can know. */
export interface SessionContext {
  /** "" when there is nothing to say. */
  readonly text: string;
  /** Ids of all memories that the session has once this text has reached it. */
  readonly shown: readonly string[];
  /** Ids of those that are in this text. */
  readonly told: readonly string[];
  /** Of this text. */
  readonly tokens: number;
}

/** The budget of a prompt's context: a few lines, not a second block. */
const PROMPT_TOKENS = 600;
/** Below this a memory has words in common with the prompt, but not its subject. */
const FITS = 0.36;
/** A shorter prompt ("yes", "go on") is not searched for, nor is one of nothing but small talk ("thanks, see you tomorrow"). */
const LEAST_WORDS = 3;
const PROMPT_CHARS = 20_000;
const MOST_SHOWN = 1_000;

/** Memory did not answer. The message is ours and quotes nothing private, so it may be shown and logged. */
export class MemoryRefused extends Error {}

/** Rejects when memory does not answer. */
export async function contextFor(request: ContextRequest): Promise<SessionContext> {
  const { reading, shown: before, mostChars } = request;
  if (reading.moment === "start") {
    // A resumed session still holds the context it was given; after a compaction or a clearing it does not.
    const resumed = reading.source === "resume" && before !== undefined;
    return opening(request, resumed ? before : []);
  }
  // A session that never received the answer to its start gets that block with this prompt.
  const missed = before === undefined ? await opening(request, []) : nothing(before);
  const fitting = await fittingPrompt(request, reading.prompt ?? "", missed.shown);
  if (missed.text.length + fitting.text.length > mostChars) return missed;
  return {
    text: missed.text + fitting.text,
    shown: fitting.shown,
    told: [...missed.told, ...fitting.told],
    tokens: missed.tokens + fitting.tokens,
  };
}

const nothing = (before: readonly string[]): SessionContext => ({ text: "", shown: before, told: [], tokens: 0 });

const opening = (request: ContextRequest, before: readonly string[]): Promise<SessionContext> =>
  blockOf(request, withoutItself(request, OPENING), before);

const OPENING: ToolInput<"memory_context"> = { trigger_prompt: OPENING_PROMPT, opening: true };

/** A session is not told what stems from itself alone. */
const withoutItself = ({ reading }: ContextRequest, input: ToolInput<"memory_context">) => ({
  ...input,
  except_session: sessionIdOf(reading.session),
});

/** What any session is told that starts now; rejects when memory does not answer. */
export const openingOf = (call: TypedCall, mostChars: number): Promise<SessionContext> =>
  blockOf({ call, mostChars }, OPENING, []);

async function fittingPrompt(
  request: ContextRequest,
  prompt: string,
  before: readonly string[],
): Promise<SessionContext> {
  // Private words are not even searched for: the memory may be on another machine, and its log too.
  const asked = clip(withoutPrivate(prompt).text, PROMPT_CHARS);
  const asksNothing = asked.trim().split(/\s+/).length < LEAST_WORDS || isSmallTalk(asked);
  if (asked.startsWith("/") || asksNothing) return nothing(before);
  const input = { trigger_prompt: asked, token_budget: PROMPT_TOKENS, min_fit: FITS, lasting: false };
  return blockOf(request, withoutItself(request, input), before);
}

/** Cutting a block would lose its closing tag, so a block that is too long is asked for again with fewer tokens. */
async function blockOf(
  request: Pick<ContextRequest, "call" | "mostChars">,
  input: ToolInput<"memory_context">,
  before: readonly string[],
): Promise<SessionContext> {
  let asked = { ...input, except: [...before] };
  for (;;) {
    const outcome = await request.call("memory_context", asked);
    if (!outcome.ok) throw new MemoryRefused(outcome.error.message);
    const { text, tokens, sections } = outcome.answer;
    if (text.length <= request.mostChars) {
      const ids = sections.flatMap(({ items }) => items.map(({ id }) => id));
      return { text, shown: [...before, ...ids].slice(-MOST_SHOWN), told: ids, tokens };
    }
    asked = { ...asked, token_budget: Math.max(1, Math.floor((tokens * request.mostChars) / text.length) - 20) };
  }
}
