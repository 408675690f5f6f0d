/** An exchange made of a prompt and a reply alone, for agents whose transcripts are not read. */
import { createHash } from "node:crypto";
import { exchangeText } from "../../engine/domain/learning/exchange.ts";
import { withoutOwnBlock } from "../../engine/domain/text/own-block.ts";
import { hider, isTooMuch, withoutPrivate } from "../../engine/domain/text/private.ts";
import type { Exchange } from "./read.ts";

/** A prompt without its private words, cut to the length that an exchange reads. */
export interface Asked {
  readonly text: string;
  /** The private words, so that they can be removed from a reply that repeats them. */
  readonly hidden: readonly string[];
}

/** More than an exchange reads of a part, so that the cut here does not show. */
const LONGEST = 20_000;
/** Of a reply this much is read. A private passage that is cut off here is private to its end. */
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
  // A hash of the text that is kept, not of what was typed: a short private word could be guessed from that.
  const key = createHash("sha256").update(`${asked.text}\n${said}`).digest("hex").slice(0, 16);
  return content === "" ? undefined : { key, at, content, tags: [], next: 0 };
}
