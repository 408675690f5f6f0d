/** What a person marks as `<private>…</private>` is not kept. */
import { occurrences } from "./occurrences.ts";

/** Hiding every occurrence of a single letter would spoil the text. */
const SHORTEST = 2;
/** Characters of private words that are looked for: to prepare that many takes 0.1 s. */
const MOST_HIDDEN = 64 * 1024;
const ATTRIBUTES = 100;

export const PRIVATE_MARK = "[private]";

export interface Public {
  readonly text: string;
  /** What stood inside, outermost only. */
  readonly hidden: readonly string[];
}

/** Nested ones end with the outermost; one that is not closed goes on to the end of the text. */
export function withoutPrivate(text: string): Public {
  const kept: string[] = [];
  const hidden: string[] = [];
  let depth = 0;
  let from = 0;
  for (const { start, end, closing } of tagsIn(text)) {
    if (depth === 0) {
      kept.push(text.slice(from, start));
      from = end;
      if (!closing) depth = 1;
      continue;
    }
    depth += closing ? -1 : 1;
    if (depth > 0) continue;
    hidden.push(text.slice(from, start));
    from = end;
  }
  if (depth > 0) hidden.push(text.slice(from));
  else kept.push(text.slice(from));
  return { text: kept.join(" ").trim(), hidden: hidden.map((one) => one.trim()).filter((one) => one !== "") };
}

interface Tag {
  readonly start: number;
  readonly end: number;
  readonly closing: boolean;
}

/** Letter by letter: a pattern would try the blanks behind a `<` anew from each of them. */
function* tagsIn(text: string): Generator<Tag> {
  for (let start = text.indexOf("<"); start !== -1; ) {
    let at = behindBlanks(text, start + 1);
    const closing = text[at] === "/";
    if (closing) at = behindBlanks(text, at + 1);
    const end = /^private$/i.test(text.slice(at, at + 7)) ? endOfTag(text, at + 7) : undefined;
    if (end !== undefined) yield { start, end, closing };
    start = text.indexOf("<", end ?? at);
  }
}

function behindBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && BLANK.test(text[at] as string)) at++;
  return at;
}

function endOfTag(text: string, from: number): number | undefined {
  if (/^\w/.test(text.slice(from, from + 1))) return undefined;
  const close = /^[^<>]*>/.exec(text.slice(from, from + ATTRIBUTES + 1));
  return close === null ? undefined : from + close[0].length;
}

/** More than can be looked for in other words: what was said around it is not kept either. */
export const isTooMuch = (hidden: readonly string[]): boolean =>
  hidden.reduce((sum, one) => sum + one.length, 0) > MOST_HIDDEN;

/** Takes hidden words out wherever they are repeated word for word, as a whole or line by line, however they are spaced. */
export function hider(hidden: readonly string[]): (text: string) => string {
  if (isTooMuch(hidden)) return (text) => (text.trim() === "" ? text : PRIVATE_MARK);
  const pieces = hidden
    .flatMap((one) => [one, ...one.split(/[\r\n]+/)])
    .filter((piece) => piece.trim().length >= SHORTEST)
    .map((piece) => folded(piece.trim()).text)
    .filter((piece) => piece !== "");
  if (pieces.length === 0) return (text) => text;
  const find = occurrences(pieces);
  return (text) => withMarks(text, find);
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function withMarks(text: string, find: ReturnType<typeof occurrences>): string {
  const plain = folded(text);
  const spans: Span[] = [];
  find(plain.text, (start, end) => {
    // "cat" is not hidden in "category", and "-7" is in "x-7".
    if (plain.words[end - 1] && plain.words[end]) return true;
    if (plain.words[start] && plain.words[start - 1]) return false;
    cover(spans, { from: plain.starts[start] as number, to: plain.ends[end - 1] as number });
    return true;
  });
  let told = "";
  let at = 0;
  for (const { from, to } of spans) {
    told += text.slice(at, from) + PRIVATE_MARK;
    at = to;
  }
  return told + text.slice(at);
}

/** They come in the order of their ends: one that reaches further back takes those before it along. */
function cover(spans: Span[], span: Span): void {
  let { from } = span;
  for (let last = spans.at(-1); last !== undefined && last.to > span.from; last = spans.at(-1)) {
    from = Math.min(from, last.from);
    spans.pop();
  }
  spans.push({ from, to: span.to });
}

interface Folded {
  readonly text: string;
  /** Where each of its code units begins and ends in the text itself. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Whether it belongs to a letter or a number. */
  readonly words: readonly boolean[];
}

/** One form for what a reader takes as the same: upper and lower case, blanks of any kind and number, an accent in one piece or two. */
function folded(text: string): Folded {
  const forms: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const words: boolean[] = [];
  let blank = false;
  let at = 0;
  for (const character of text) {
    const end = at + character.length;
    const form = foldedCharacter(character);
    // A further blank, or an accent of its own, belongs to the character before.
    if (((form === " " && blank) || form === "") && ends.length > 0) ends[ends.length - 1] = end;
    else {
      const word = WORD.test(form);
      for (let n = 0; n < form.length; n++) {
        starts.push(at);
        ends.push(end);
        words.push(word);
      }
      forms.push(form);
      blank = form === " ";
    }
    at = end;
  }
  return { text: forms.join(""), starts, ends, words };
}

const BLANK = /\s/;
const WORD = /[\p{L}\p{N}]/u;

function foldedCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 128) return code <= 32 ? (BLANK.test(character) ? " " : character) : character.toLowerCase();
  if (BLANK.test(character)) return " ";
  // Upper case first: both forms of the small sigma, and the sharp s as people write it in capitals.
  return character.normalize("NFKD").replace(UNSEEN, "").toUpperCase().toLowerCase();
}

/** Accents, joiners, soft hyphens: what can be added to a word or left out without changing how it reads. */
const UNSEEN = /[\p{M}\p{Cf}]/gu;
