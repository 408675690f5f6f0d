/** One exchange from a prompt and an answer alone, for agents whose transcript nobody here can read. */
import { createHash } from "node:crypto";
import { exchangeText } from "../../domain/exchange.ts";
import { withoutOwnBlock } from "../../domain/own-block.ts";
import { hider, withoutPrivate } from "../../domain/private.ts";
import type { Exchange } from "./read.ts";

/** Undefined when nothing is left that may be kept. */
export function spokenExchange(prompt: string, reply: string, at: string): Exchange | undefined {
  const asked = withoutPrivate(withoutOwnBlock(prompt));
  if (asked.text === "" || reply.trim() === "") return undefined;
  const said = hider(asked.hidden)(withoutPrivate(withoutOwnBlock(reply)).text);
  const content = exchangeText({ user: [asked.text], agent: [said], did: [], failed: [], decided: [] });
  const key = createHash("sha256").update(`${prompt}\n${reply}`).digest("hex").slice(0, 16);
  return content === "" ? undefined : { key, at, content, tags: [], next: 0 };
}
