/** What a session is told of its memories: a block when it starts, and with a prompt what fits it and is new to the session. */

import { OPENING_PROMPT } from "../../doors/mcp/opening-prompt.ts";
import { withoutPrivate } from "../../engine/domain/text/private.ts";
import { clip } from "../../engine/domain/text/text.ts";
import type { ToolInput } from "../../engine/tools/index.ts";
import type { TypedCall } from "../../engine/tools/typed-call.ts";
import { sessionIdOf } from "../transcripts/episodes.ts";
import type { HookReading } from "./dialects.ts";

export interface ContextRequest {
  readonly reading: HookReading;
  /** Ids of the memories that this session has been told; undefined when nothing has ever reached it. */
  readonly shown: readonly string[] | undefined;
  /** The most that its agent takes in one answer. */
  readonly mostChars: number;
  readonly call: TypedCall;
}

/** Counts as told when it has reached the session, which only its caller can know. */
export interface SessionContext {
  /** "" when there is nothing to say. */
  readonly text: string;
  /** What the session has been told once this has reached it. */
  readonly shown: readonly string[];
}

/** For one prompt: a few lines, not a second block. */
const PROMPT_TOKENS = 600;
/** Below this a memory has words in common with the prompt, but not its subject. */
const FITS = 0.36;
/** "yes", "go on": nothing to look for. */
const LEAST_WORDS = 3;
const PROMPT_CHARS = 20_000;
const MOST_SHOWN = 1_000;

/** Memory did not answer, in words of ours that may be shown and written into a log. */
export class MemoryRefused extends Error {}

/** Fails when memory does. */
export async function contextFor(request: ContextRequest): Promise<SessionContext> {
  const { reading, shown: before, mostChars } = request;
  if (reading.moment === "start") {
    // A resumed session still has what it was told; after a compaction or a clearing it has not.
    const resumed = reading.source === "resume" && before !== undefined;
    return opening(request, resumed ? before : []);
  }
  // A session that its start's answer never reached gets with this prompt what it has missed.
  const missed = before === undefined ? await opening(request, []) : { text: "", shown: before };
  const fitting = await fittingPrompt(request, reading.prompt ?? "", missed.shown);
  if (missed.text.length + fitting.text.length > mostChars) return missed;
  return { text: missed.text + fitting.text, shown: fitting.shown };
}

const opening = (request: ContextRequest, before: readonly string[]): Promise<SessionContext> =>
  blockOf(request, { trigger_prompt: OPENING_PROMPT }, before);

async function fittingPrompt(
  request: ContextRequest,
  prompt: string,
  before: readonly string[],
): Promise<SessionContext> {
  // What is private does not even leave for a search: that may be on another machine, and in its log.
  const asked = clip(withoutPrivate(prompt).text, PROMPT_CHARS);
  if (asked.startsWith("/") || asked.trim().split(/\s+/).length < LEAST_WORDS) return { text: "", shown: before };
  const input = { trigger_prompt: asked, token_budget: PROMPT_TOKENS, min_fit: FITS, lasting: false };
  return blockOf(request, input, before);
}

/** A block cut in the middle would lose its closing tag; one that is too long is asked for again with fewer tokens. */
async function blockOf(
  request: ContextRequest,
  input: ToolInput<"memory_context">,
  before: readonly string[],
): Promise<SessionContext> {
  const except_session = sessionIdOf(request.reading.session);
  let asked = { ...input, except: [...before], except_session };
  for (;;) {
    const outcome = await request.call("memory_context", asked);
    if (!outcome.ok) throw new MemoryRefused(outcome.error.message);
    const { text, tokens, sections } = outcome.answer;
    if (text.length <= request.mostChars) {
      const ids = sections.flatMap(({ items }) => items.map(({ id }) => id));
      return { text, shown: [...before, ...ids].slice(-MOST_SHOWN) };
    }
    asked = { ...asked, token_budget: Math.max(1, Math.floor((tokens * request.mostChars) / text.length) - 20) };
  }
}
