/** The sentences of a message in the person's own words. Code, logs and quoted mail are left out. */
import { BULLET, isFence, isSpoken } from "../sentences.ts";

export interface Said {
  readonly text: string;
  /** Where it begins in the message. */
  readonly at: number;
  readonly question: boolean;
}

/** Marks that end a sentence, dashes between blanks, and words with which people begin an aside. */
const END =
  /(?<![.!?…])[.!?…]+["')\]]*(?=\s|$)|;(?=\s)|\s(?:[–—]|--?)(?=\s)|(?<=\s)(?=(?:btw|fyi|by the way|übrigens)\b(?!,))/giu;
const ABBREVIATED =
  /(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|vs|e\.g|i\.e|etc|approx|No|Jr|Sr|z\.B|d\.h|u\.a|bzw|ca|Nr|Str|[A-Z]|\d{1,2})\.$/iu;
const SHORTEST = 4;
const LEAST_BEFORE_ASIDE = 9;
/** Longer ones are lists or dumps. */
const LONGEST = 600;
const LONGEST_LINE = 4000;

export function splitMessage(message: string): Said[] {
  const found: Said[] = [];
  let fenced = false;
  let at = 0;
  for (const line of message.split("\n")) {
    if (isFence(line)) fenced = !fenced;
    else if (!fenced && isSpoken(line)) found.push(...splitLine(line.slice(0, LONGEST_LINE), at));
    at += line.length + 1;
  }
  return found;
}

function splitLine(line: string, at: number): Said[] {
  const found: Said[] = [];
  let from = BULLET.exec(line)?.[0].length ?? 0;
  const push = (end: number, mark: string) => {
    const piece = line.slice(from, end);
    const text = piece.trim().replace(/^[,:]+ ?|(?<![,:\s])[,:\s]+$/g, "");
    const begins = at + from + piece.indexOf(text);
    if (text.length >= SHORTEST && text.length <= LONGEST && /\p{L}{2}/u.test(text))
      found.push({ text, at: begins, question: mark.includes("?") });
    from = end + mark.length;
  };
  for (const { 0: mark, index } of line.matchAll(END)) {
    if (index < from) continue;
    // An aside, unless something hangs on it: "if only, by the way, …".
    if (mark === "" && index - from < LEAST_BEFORE_ASIDE) continue;
    if (mark === "." && ABBREVIATED.test(line.slice(Math.max(from, index - 8), index + 1))) continue;
    push(index, mark);
  }
  push(line.length, "");
  return found;
}
