/**
 * Our own context block, quoted back in a transcript, is not news: it is taken out before anything is learned. Its tags are
 * matched as they were written, letter by letter: a memory inside that spells its closing tag in another way does not end it. Hosts
 * hand it back as it was, or with its brackets escaped: Gemini CLI for HTML, programs that print JSON for that.
 */
import { OWN_TAG } from "./neutral.ts";

const OPEN = "(?:<|&(?:amp;){0,3}lt;|\\\\u003c)";
const CLOSE = "(?:>|&(?:amp;){0,3}gt;|\\\\u003e)";
const BLOCK = new RegExp(`${OPEN}${OWN_TAG}${CLOSE}[\\s\\S]*?(?:${OPEN}/${OWN_TAG}${CLOSE}|$)`, "g");
const STRAY = new RegExp(`${OPEN}/?${OWN_TAG}${CLOSE}`, "g");

export function withoutOwnBlock(text: string): string {
  return text.replace(BLOCK, " ").replace(STRAY, " ").trim();
}
