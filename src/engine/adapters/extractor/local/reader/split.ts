/** The sentences of a message in the person's own words. Code, logs and quoted mail are left out. */
import { BULLET, isFence, isSpoken } from "../sentences.ts";

export interface Said {
  readonly text: string;
  /** Where it begins in the message. */
  readonly at: number;
  readonly question: boolean;
  /** What stands between it and the sentence before, if that is on the same line and no question. */
  readonly gap?: string;
}

/** Marks that end a sentence, dashes between blanks, and words with which people begin an aside. What a semicolon joins is nearly always one thought. */
const END = /(?<![.!?…])[.!?…]+["')\]]*(?=\s|$)|\s(?:[–—]|--?)(?=\s)|(?<=\s)(?=(?:btw|fyi|by the way)\b(?!,))/giu;
const ABBREVIATED =
  /(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|vs|e\.g|i\.e|etc|approx|No|Jr|Sr|z\.B|d\.h|u\.a|bzw|ca|Nr|Str|[A-Z]|\d{1,2})\.$/iu;
/** Where the question begins in "I'm coeliac, so what can I order?": what stands before it is said, not asked. */
const ASKED =
  /(?:[,;]\s+(?:(?:so|and|but|then|und|also|aber|dann)\s+)?|\sso\s+)(?=(?:what|what's|which|where|when|who|how|why|can|could|would|should|is|are|does|do|did|any|ideas|was|welche[rsnm]?|wie|wo|wann|wer|warum|kannst|kann|könntest|hast|gibt|soll|sollte|darf|geht|ist|sind|änderst|machst)(?![\p{L}']))/giu;
/** What such a question hangs on when it begins so. */
const NOT_SAID =
  /^(?:(?:ok|okay|so|and|but|hi|hey|hm+|well|und|aber|also|na)[,\s]+)*(?:if|when|whenever|while|since|in|for|with|after|before|as|say|suppose|imagine|angenommen|gesetzt|stell|what|which|where|who|who's|how|why|can|could|would|should|is|are|does|do|did|any|wenn|falls|bei|für|mit|nach|was|welche[rsnm]?|wie|wo|wann|wer|warum|kannst|kann|könntest|hast|gibt|soll|darf|ist|sind)(?![\p{L}'])/iu;
const LEAST_SAID = 2;
const SHORTEST = 4;
const LEAST_BEFORE_ASIDE = 9;
/** Longer ones are lists or dumps. */
const LONGEST = 600;
/** Between two sentences nothing else was said. */
const LONGEST_GAP = 3;
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

/** Where the comma or the blank is before the question that a statement ends with. */
function questionIn(text: string): number | undefined {
  const [first] = text.matchAll(ASKED);
  if (first === undefined || NOT_SAID.test(text.trimStart())) return undefined;
  const words = text.slice(0, first.index).trim().split(/\s+/);
  return words.length < LEAST_SAID ? undefined : first.index;
}

function splitLine(line: string, at: number): Said[] {
  const found: Said[] = [];
  let from = BULLET.exec(line)?.[0].length ?? 0;
  const push = (end: number, mark: string) => {
    const asked = mark.includes("?") ? questionIn(line.slice(from, end)) : undefined;
    if (asked !== undefined) push(from + asked, ",");
    const piece = line.slice(from, end);
    const text = piece.trim().replace(/^[,:]+ ?|(?<![,:\s])[,:\s]+$/g, "");
    const begins = at + from + piece.indexOf(text);
    if (text.length >= SHORTEST && text.length <= LONGEST && /\p{L}{2}/u.test(text))
      found.push({ text, at: begins, question: mark.includes("?"), ...gapBetween(found.at(-1), begins) });
    from = end + mark.length;
  };
  const gapBetween = (before: Said | undefined, begins: number): Pick<Said, "gap"> => {
    if (before === undefined || before.question) return {};
    const gap = line.slice(before.at + before.text.length - at, begins - at);
    return gap.length > LONGEST_GAP ? {} : { gap };
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
