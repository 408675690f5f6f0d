/** What a session is told of its memories: a block when it starts, and with a prompt what fits it and is new to the session. */
import { clip } from "../../domain/text.ts";
import { OPENING_PROMPT } from "../../serve/opening-prompt.ts";
import type { Outcome } from "../../tools/outcome.ts";
import type { Home } from "../home.ts";
import type { HookReading } from "./dialects.ts";
import { readShown, writeShown } from "./spool.ts";

export interface Listener {
  readonly home: Home;
  /** Of the session. */
  readonly key: string;
  readonly told: HookReading;
  /** The most that its agent takes in one answer. */
  readonly mostChars: number;
  call(tool: string, input: Record<string, unknown>): Promise<Outcome>;
}

interface Block {
  readonly text: string;
  readonly ids: readonly string[];
}

interface ContextAnswer {
  readonly text: string;
  readonly tokens: number;
  readonly sections: readonly { readonly items: readonly { readonly id: string }[] }[];
}

/** For one prompt: a few lines, not a second block. */
const PROMPT_TOKENS = 600;
/** Below this a memory has words in common with the prompt, but not its subject. */
const FITS = 0.36;
/** "yes", "go on": nothing to look for. */
const LEAST_WORDS = 3;
const PROMPT_CHARS = 20_000;
const MOST_SHOWN = 1_000;

/** "" when there is nothing to say. Fails when memory does. */
export async function contextFor(listener: Listener): Promise<string> {
  const { told, home, key, mostChars } = listener;
  const before = readShown(home, key);
  if (told.moment === "start") {
    // A resumed session still has what it was told; after a compaction or a clearing it has not.
    const resumed = told.source === "resume" && before !== undefined;
    return (await opening(listener, resumed ? before : [])).text;
  }
  // A session whose start had no answer gets with its first prompt what it has missed.
  const { text: missed, shown } = before === undefined ? await opening(listener, []) : { text: "", shown: before };
  const fitting = await fittingPrompt(listener, told.prompt ?? "", shown);
  return missed.length + fitting.length <= mostChars ? missed + fitting : missed;
}

async function opening(listener: Listener, before: readonly string[]) {
  const { text, ids } = await blockOf(listener, { trigger_prompt: OPENING_PROMPT, except: before });
  const shown = [...before, ...ids].slice(-MOST_SHOWN);
  writeShown(listener.home, listener.key, shown);
  return { text, shown };
}

async function fittingPrompt(listener: Listener, prompt: string, before: readonly string[]): Promise<string> {
  if (prompt.startsWith("/") || prompt.trim().split(/\s+/).length < LEAST_WORDS) return "";
  const { text, ids } = await blockOf(listener, {
    trigger_prompt: clip(prompt, PROMPT_CHARS),
    token_budget: PROMPT_TOKENS,
    except: before,
    min_fit: FITS,
    lasting: false,
  });
  if (ids.length > 0) writeShown(listener.home, listener.key, [...before, ...ids].slice(-MOST_SHOWN));
  return text;
}

/** A block cut in the middle would lose its closing tag; one that is too long is asked for again with fewer tokens. */
async function blockOf(listener: Listener, input: Record<string, unknown>): Promise<Block> {
  let asked = input;
  for (;;) {
    const outcome = await listener.call("memory_context", asked);
    if (!outcome.ok) throw new Error(outcome.error.message);
    const { text, tokens, sections } = outcome.answer as unknown as ContextAnswer;
    if (text.length <= listener.mostChars)
      return { text, ids: sections.flatMap(({ items }) => items.map(({ id }) => id)) };
    asked = { ...input, token_budget: Math.max(1, Math.floor((tokens * listener.mostChars) / text.length) - 20) };
  }
}
