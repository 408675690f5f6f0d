/** Reads the value that stands after a name, and judges whether it is one. */
import { isPhrase } from "./words.ts";

/** Longest stretch that is judged. What is accepted is then taken to its end, however long. */
export const JUDGED = 256;

export interface Value {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly quoted: boolean;
}

/** Code inside JSON has its quotes escaped: what opens with `\"` closes with `\"`. */
const QUOTED =
  /\\"((?:[^"\\\n]|\\(?!"))*)\\"|"((?:[^"\\\n]|\\.)*)"|\\?'([^'\n]*)'|`([^`\n]*)`|“([^”\n]*)”|‘([^’\n]*)’/dy;
/** `;`, `&` and `,` belong to a bare value unless another `name=` or the end of the phrase follows. */
const BARE =
  /(?:[^\s"'`<>;&,\\]|\\(?![nrt"'])|[;&,](?!\s|$|["'}\])]|[A-Za-z_][\w.-]{0,40}[=:]|[A-Za-z_][\w ]{0,40}=)){1,256}/y;
const BARE_REST = /[^\s"'`<>;&,\\]*/y;

export function trimBare(value: string): string {
  // `sk-...` and `sk_***` stand for a key; without their dots they would look like one.
  if (/[-_](?:\.{3}|…|\*{2,})$/.test(value)) return value;
  let end = value.length;
  for (; end > 0; end--) {
    const char = value.charAt(end - 1);
    const open = { ")": "(", "]": "[", "}": "{" }[char];
    const strayBracket = open !== undefined && !value.includes(open);
    if (!strayBracket && !/[.,;:?*]/.test(char)) break;
  }
  return value.slice(0, end);
}

export function readValue(text: string, from: number): Value | undefined {
  if (/["'`“‘\\]/.test(text.charAt(from))) {
    // A missing closing quote must not make every later quote read to the end of the line.
    QUOTED.lastIndex = 0;
    const window = text.slice(from, from + 1024);
    const match = QUOTED.exec(window);
    const at = match?.indices?.slice(1).find((range) => range !== undefined);
    if (at !== undefined) {
      return { start: from + at[0], end: from + at[1], text: window.slice(at[0], at[1]), quoted: true };
    }
  }
  const start = /["'`“‘]/.test(text.charAt(from)) ? from + 1 : from;
  BARE.lastIndex = start;
  const bare = BARE.exec(text)?.[0];
  if (bare === undefined) return undefined;
  const value = trimBare(bare);
  return value === "" ? undefined : { start, end: start + value.length, text: value, quoted: false };
}

/** The end of a value that was accepted. Read only then: reading on from each name of a long run would be quadratic. */
export function wholeEnd(text: string, { start, end, quoted }: Value): number {
  if (quoted || end - start < JUDGED) return end;
  BARE_REST.lastIndex = end;
  return end + (BARE_REST.exec(text)?.[0].length ?? 0);
}

/** Two more plain words on the line: a sentence goes on, so the word before them was no value. */
export function sentenceGoesOn(text: string, end: number): boolean {
  const rest = text.slice(end, end + 60);
  return /^,? +(?!and\b|but\b|so\b|or\b)[a-z'’]+(?:[ ,.;!?]|$)/.test(rest);
}

export const UNITS =
  /^[ -]?(?:or more |to \d+ )?(?:char|digit|letter|symbol|number|day|week|month|year|hour|minute|second|bit|byte|time|attempt|word|%)/i;

/** Several words after "passphrase" are one secret, as long as none of them is a word sentences are made of. */
export function passphraseEnd(text: string, value: Value): number {
  if (value.quoted) return value.end;
  const words = /^[^\n.,;:!?"'`<>()]{4,200}/.exec(text.slice(value.start, value.start + 201))?.[0].trimEnd();
  if (words === undefined || words.length <= value.text.length) return value.end;
  return isPhrase(words) ? value.start + words.length : value.end;
}
