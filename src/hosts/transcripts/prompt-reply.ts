/** One exchange from a prompt and an answer alone, for agents whose transcript nobody here can read. */
import { createHash } from "node:crypto";
import { exchangeText } from "../../engine/domain/learning/exchange.ts";
import { withoutOwnBlock } from "../../engine/domain/text/own-block.ts";
import { hider, isTooMuch, withoutPrivate } from "../../engine/domain/text/private.ts";
import type { Exchange } from "./read.ts";

/** A prompt without what is private, and not longer than what an exchange looks at. */
export interface Asked {
  readonly text: string;
  /** The private words, so that an answer which repeats them can be told without them. */
  readonly hidden: readonly string[];
}

/** More than an exchange reads of a part: where it is cut there, no word is cut in two. */
const LONGEST = 20_000;
/** Of an answer this much is looked at. What is cut off inside of something private is private to its end. */
const REPLY = 64_000;

/** Undefined when nothing of it may be kept. */
export function askedOf(prompt: string): Asked | undefined {
  const { text, hidden } = withoutPrivate(withoutOwnBlock(prompt));
  return text === "" || isTooMuch(hidden) ? undefined : { text: text.slice(0, LONGEST), hidden };
}

/** Undefined when nothing is left that may be kept. */
export function exchangeOf(asked: Asked | undefined, reply: string, at: string): Exchange | undefined {
  if (asked === undefined || reply.trim() === "") return undefined;
  const said = hider(asked.hidden)(withoutPrivate(withoutOwnBlock(reply.slice(0, REPLY))).text);
  const content = exchangeText({ user: [asked.text], agent: [said], did: [], failed: [], decided: [] });
  // Of what is kept, and not of what was typed: a private word of few letters could be guessed from it.
  const key = createHash("sha256").update(`${asked.text}\n${said}`).digest("hex").slice(0, 16);
  return content === "" ? undefined : { key, at, content, tags: [], next: 0 };
}
