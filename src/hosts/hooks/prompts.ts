/**
 * Prompts that wait for their reply. They may hold secrets, so they are kept in memory and never on disk: of each only the part that an
 * exchange stores, and of all together a few megabytes, however long they are and however many sessions there are.
 */
import { type Asked, askedOf } from "../transcripts/prompt-reply.ts";

const MOST_PROMPTS = 200;
/** Two bytes each. */
const MOST_CHARS = 2_000_000;

export interface Prompts {
  /** Replaces the session's prompt before, also when nothing of the new one may be kept. */
  hold(key: string, prompt: string): void;
  of(key: string): Asked | undefined;
  /** Characters that are held. */
  size(): number;
}

export function heldPrompts(): Prompts {
  const held = new Map<string, Asked>();
  let chars = 0;

  function drop(key: string): void {
    chars -= sizeOf(held.get(key));
    held.delete(key);
  }

  return {
    hold(key, prompt) {
      drop(key);
      const asked = askedOf(prompt);
      if (asked === undefined) return;
      const own = { text: copied(asked.text), hidden: asked.hidden.map(copied) };
      held.set(key, own);
      chars += sizeOf(own);
      for (const oldest of held.keys()) {
        if (held.size <= MOST_PROMPTS && chars <= MOST_CHARS) break;
        drop(oldest);
      }
    },
    of: (key) => held.get(key),
    size: () => chars,
  };
}

const sizeOf = (asked: Asked | undefined): number =>
  asked === undefined ? 0 : asked.hidden.reduce((sum, one) => sum + one.length, asked.text.length);

/** A substring keeps the whole string in memory: up to seven megabytes for one line. */
const copied = (text: string): string => Buffer.from(text, "utf16le").toString("utf16le");
