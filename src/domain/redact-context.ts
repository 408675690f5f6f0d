import type { SecretKind, Span } from "./redact-patterns.ts";
import {
  classifyName,
  isExpression,
  isLocation,
  isPhrase,
  isPlaceholder,
  isProse,
  isProseWord,
  isReference,
  looksRandom,
  type NameClass,
} from "./redact-words.ts";

/** Longest stretch that is judged. What is accepted is then taken to its end, however long. */
const JUDGED = 256;

export function kindOfName(name: NameClass): SecretKind {
  return name === "password" || name === "pin" ? name : "secret";
}

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

function trimBare(value: string): string {
  // `sk-...` stands for a key; without its dots it would look like one.
  if (/[-_](?:\.{3}|…)$/.test(value)) return value;
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
    const window = text.slice(from, from + 4096);
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
  let end = start + value.length;
  if (value.length === JUDGED) {
    BARE_REST.lastIndex = end;
    end += BARE_REST.exec(text)?.[0].length ?? 0;
  }
  return value === "" ? undefined : { start, end, text: value, quoted: false };
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

interface Assignment {
  readonly name: string;
  readonly operator: string;
  readonly tight: boolean;
}

function assignedQuoted(value: string, cls: NameClass): boolean {
  if (cls === "pin") return /^\d{4,8}$/.test(value);
  if (cls === "weak_key") return looksRandom(value, 16);
  if (/\s/.test(value)) return !isProse(value) && (cls === "password" || /\d/.test(value));
  if (isProseWord(value) || isLocation(value)) return false;
  // 'my_api_key' in an example names the key it stands for.
  if (cls === "secret" && !/\d/.test(value) && isReference(value)) return false;
  return cls === "password" || /\d/.test(value) || value.length >= 8;
}

function assignedBare(text: string, value: Value, cls: NameClass, { name, operator, tight }: Assignment): boolean {
  const v = value.text;
  if (cls === "pin") return /^\d{4,8}$/.test(v) && !UNITS.test(text.slice(value.end, value.end + 20));
  if (operator.startsWith("==") || isExpression(v) || isLocation(v) || isReference(v)) return false;
  const letters = /^\p{L}+$/u.test(v);
  if (cls === "password") {
    if (UNITS.test(text.slice(value.end, value.end + 20)) && /^\d+$/.test(v)) return false;
    if (letters) return v.length >= 4 && !isProseWord(v) && !sentenceGoesOn(text, value.end);
    return v.length >= 3;
  }
  const environment = tight && operator === "=" && /^[A-Z][A-Z0-9_]+$/.test(name);
  if (cls === "weak_key")
    return looksRandom(v, 16) || (environment && v.length >= 12 && /\d/.test(v) && /[A-Za-z]/.test(v));
  if (/^\d+$/.test(v)) return v.length >= 8;
  if (letters) return tight && operator === "=" && v.length >= (environment ? 4 : 8) && !isProseWord(v);
  return environment
    ? v.length >= 4
    : v.length >= 8 && (/\d/.test(v) || v.length >= 16) && !/^[a-z]+(?:[-_][a-z]+)*$/i.test(v);
}

const NAME =
  /(?<![A-Za-z0-9_-])([A-Za-z0-9_-]{2,80})(["'`\])*\\]{0,3}[ \t]{0,8})(:[ \t]{0,4}[A-Za-z][\w.[\]<>|]{0,40}[ \t]{0,4}=(?![=>])|=>|:=|={1,3}|:(?!\/\/))([ \t]{0,8}\*{0,2}[ \t]{0,2})/g;

function* assignments(text: string): Generator<Span> {
  NAME.lastIndex = 0;
  for (let match = NAME.exec(text); match !== null; match = NAME.exec(text)) {
    const [whole, name = "", closing = "", operator = "", gap = ""] = match;
    const from = match.index + whole.length;
    NAME.lastIndex = match.index + name.length;
    const before = text.slice(Math.max(0, match.index - 2), match.index);
    // Query parameters have their own reader; `${NAME:-default}` is a template.
    if (/[?&]$|\$\{$/.test(before)) continue;
    const cls = classifyName(name.replace(/^-+/, ""));
    if (cls === undefined) continue;
    const value = readValue(text, from);
    // Armoured keys know their own end.
    if (value === undefined || value.text.startsWith("-----BEGIN ")) continue;
    const end = /phrase$/i.test(name) ? passphraseEnd(text, value) : value.end;
    const tight = gap === "" && !/\s$/.test(closing);
    const single = value.quoted
      ? assignedQuoted(value.text, cls)
      : assignedBare(text, value, cls, { name, operator, tight });
    const hidden = end > value.end || (single && (cls === "pin" || !isPlaceholder(value.text)));
    if (!hidden) continue;
    yield { start: value.start, end, kind: kindOfName(cls) };
    NAME.lastIndex = end;
  }
}

const QUERY = /(?<=[?&])([A-Za-z0-9_.-]{1,60})=([^&#\s"'`<>\\)\]]+)/dg;
const QUERY_NAMES = /^(?:sig|signature|x-amz-signature|x-amz-security-token|auth|pass|code_verifier)$/i;

function* queryParameters(text: string): Generator<Span> {
  for (const match of text.matchAll(QUERY)) {
    const [, name = "", value = ""] = match;
    const at = match.indices?.[2];
    const cls = QUERY_NAMES.test(name) ? "secret" : name === "key" ? "weak_key" : classifyName(name);
    if (at === undefined || cls === undefined || value.length < 4 || isPlaceholder(value.slice(0, JUDGED))) continue;
    if (cls === "weak_key" ? !looksRandom(value, 16) : isReference(value.slice(0, JUDGED))) continue;
    yield {
      start: at[0],
      end: at[0] + trimBare(value.slice(-JUDGED)).length + Math.max(0, value.length - JUDGED),
      kind: kindOfName(cls),
    };
  }
}

/** Places where a name and its value stand apart without `=` or `:`. Group 1 is the name, group 2 the value. */
const APART: readonly RegExp[] = [
  /(?<=\s|^)--([a-z][a-z-]{1,40})[ \t]{1,4}["']?([^\s"'`<>$-][^\s"'`<>]{3,255})/dg,
  /<([A-Za-z][\w:.-]{1,60})>([^<>\s][^<>\n]{0,255})<\//dg,
  /\b(?:login|user|username)[ \t:=]{1,4}[^\s,;]{1,100}[ \t,;]{1,4}(?:and )?(password)[ \t]{1,4}(?=\S{0,40}\d)(\S{1,256})/dgi,
];
const CURL_USER = /\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ \t=]{0,2}["']?[^\s:"']{1,100}:([^\s"'$<]{1,256})/dg;

function* standingApart(text: string): Generator<Span> {
  for (const pattern of APART) {
    for (const match of text.matchAll(pattern)) {
      const at = match.indices?.[2];
      const cls = classifyName(match[1] ?? "");
      const value = match[2] ?? "";
      if (at === undefined || cls === undefined || isPlaceholder(value) || isExpression(value) || isLocation(value))
        continue;
      if (cls === "weak_key" ? looksRandom(value, 16) : cls === "password" ? !isProse(value) : /\d/.test(value)) {
        yield { start: at[0], end: at[1], kind: kindOfName(cls) };
      }
    }
  }
  for (const match of text.matchAll(CURL_USER)) {
    const at = match.indices?.[1];
    if (at !== undefined && !isPlaceholder(match[1] ?? "")) yield { start: at[0], end: at[1], kind: "password" };
  }
}

export const contextFinders: readonly ((text: string) => Iterable<Span>)[] = [
  queryParameters,
  assignments,
  standingApart,
];
