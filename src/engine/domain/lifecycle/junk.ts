/** What is hardly worth remembering, and why. Advice for a reader: nothing is deleted because of it. */
import { isSmallTalk } from "../learning/idle-prompt.ts";

export type JunkReason = "short" | "no_letters" | "filler" | "repetition" | "echo" | "stack_dump" | "log" | "encoded";

/** The tag of our own context block, also in the form in which a block quotes it. */
const ECHO = /<[\s/]*butler-memory\s*>/i;
const BOILERPLATE = /\b(?:lorem ipsum dolor|as an ai (?:language )?model|i(?:'m| am) sorry, but i can(?:no|')t)\b/i;
const FRAME =
  /^(?:at\s+(?:\S.*\s)?[^\s:(]*[:(]\S+|File ".+", line \d+|#\d+\s+0x[0-9a-f]+|\S+\.(?:go|rs|rb|py|java|[cm]?[jt]sx?):\d+.*|\.\.\. \d+ more)$/;
const STAMPED =
  /^\s*(?:\[?\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}|\[?\d{2}:\d{2}:\d{2}|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+ \d{2}:)/;
const RUN = /[A-Za-z0-9+/=_-]{120,}/g;
const UNSPACED = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;

/** Looking at more of a huge text would not change the verdict. */
const LOOK = 20_000;
const SHORT_CHARS = 12;
const SHORT_UNSPACED = 3;
/** From this many lines on, a share of lines says something. */
const LINES = 5;

/** What speaks against keeping it, one reason each; empty when nothing does. */
export function junkReasons(whole: string): readonly JunkReason[] {
  const text = whole.slice(0, LOOK).trim();
  const reasons: JunkReason[] = [];
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const share = (pattern: RegExp) =>
    lines.filter((line) => pattern.test(line.trim())).length / Math.max(1, lines.length);

  if (!/\p{L}/u.test(text)) reasons.push("no_letters");
  else if (isShort(text)) reasons.push("short");
  if (isFiller(text)) reasons.push("filler");
  if (ECHO.test(text)) reasons.push("echo");
  if (isRepetition(text, lines)) reasons.push("repetition");
  if (lines.length >= LINES && share(FRAME) >= 0.6) reasons.push("stack_dump");
  if (lines.length >= LINES && share(STAMPED) >= 0.8) reasons.push("log");
  const encoded = [...text.matchAll(RUN)].reduce((sum, [run]) => sum + run.length, 0);
  if (encoded > text.length / 2) reasons.push("encoded");
  return reasons;
}

const isFiller = (text: string): boolean => (/\p{L}/u.test(text) && isSmallTalk(text)) || BOILERPLATE.test(text);

function isShort(text: string): boolean {
  const chars = [...text.replace(/[^\p{L}\p{N}]/gu, "")].length;
  if (UNSPACED.test(text)) return chars < SHORT_UNSPACED;
  return chars < SHORT_CHARS && text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length < 2;
}

/** The same line over and over, or the same few words. */
function isRepetition(text: string, lines: readonly string[]): boolean {
  if (lines.length >= LINES) return new Set(lines.map((line) => line.trim())).size <= lines.length / 2;
  const words = text.toLowerCase().split(/\s+/);
  return words.length >= 12 && new Set(words).size <= words.length / 4;
}
