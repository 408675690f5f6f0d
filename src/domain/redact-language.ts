import { passphraseEnd, readValue, sentenceGoesOn, UNITS, type Value } from "./redact-context.ts";
import type { Span } from "./redact-patterns.ts";
import { isExpression, isLocation, isPlaceholder, isProse, isProseWord, looksRandom } from "./redact-words.ts";

const WORD = "(?<![A-Za-z0-9_])(?:password|passcode|passwd|passwort|pwd|passphrase|pass phrase)";
const FOR = "(?:[ \\t]+(?:for|to|of|on|at|in|that|which|i|we|he|she|they|you)[ \\t]+(?:[^\\n.!?;:]|\\.(?=\\S)){1,60}?)";
const ADVERBS = "(?:[ \\t]+(?:now|still|set to|changed to|simply|just|called|probably|currently|again|also))*";
/** "the password (for X) is Y", "the password for X: Y" */
const SAID = new RegExp(
  `${WORD}(?:${FOR}?[ \\t]+(?:is|was|will be|has been)${ADVERBS}[ \\t]*[:=]?|(?:${FOR}|[ \\t]*\\([^()\\n]{1,40}\\))[ \\t]*[:=])[ \\t]*(?=\\S)`,
  "gi",
);
/** "changed the password to Y", "log in with password Y": looser grammar, so the value itself must look like one. */
const MENTIONED = new RegExp(
  `${WORD}[ \\t]+to[ \\t]+(?=\\S)|(?:with|using|use|the|my)[ \\t]+${WORD}[ \\t]+(?:to[ \\t]+)?(?=\\S)`,
  "gi",
);
/** "Y is my password" */
const REVERSED =
  /(?<![^\s"'`])([^\s"'`]{4,64})["'`]?[ \t]+is[ \t]+(?:my|the|our|his|her)[ \t]+(?:[\w-]{1,30}[ \t]+){0,2}(?:password|passcode|passphrase)\b/dgi;

function looksChosen(value: string): boolean {
  return value.length >= 4 && !/^v?\d+(?:\.\d+)+$/.test(value) && /\d/.test(value) && !/^\d{1,3}\D?$/.test(value);
}

function saidEnd(text: string, match: RegExpMatchArray, value: Value, strict: boolean): number | undefined {
  const v = value.text;
  const phraseEnd = /phrase/i.test(match[0]) ? passphraseEnd(text, value) : value.end;
  if (phraseEnd > value.end) return phraseEnd;
  if (isPlaceholder(v) || isExpression(v) || isLocation(v) || /^\d+-[a-z]+/i.test(v)) return undefined;
  if (/^\d+$/.test(v) && (v.length < 4 || UNITS.test(text.slice(value.end, value.end + 20)))) return undefined;
  if (value.quoted) return isProse(v) ? undefined : value.end;
  if (isProseWord(v)) return undefined;
  if (/^[\p{L}'’-]+!*$/u.test(v)) {
    return strict || v.length < 4 || sentenceGoesOn(text, value.end) ? undefined : value.end;
  }
  return !strict || looksChosen(v) ? value.end : undefined;
}

function* passwords(text: string): Generator<Span> {
  for (const [pattern, strict] of [
    [SAID, false],
    [MENTIONED, true],
  ] as const) {
    for (const match of text.matchAll(pattern)) {
      const value = readValue(text, match.index + match[0].length);
      const end = value === undefined ? undefined : saidEnd(text, match, value, strict);
      if (value !== undefined && end !== undefined) yield { start: value.start, end, kind: "password" };
    }
  }
  for (const match of text.matchAll(REVERSED)) {
    const at = match.indices?.[1];
    if (at !== undefined && looksChosen(match[1] ?? "") && !isPlaceholder(match[1] ?? "")) {
      yield { start: at[0], end: at[1], kind: "password" };
    }
  }
}

/** Lower-case "pin" alone is a pin on a board; it needs an owner, a card or the word code. */
const PIN =
  /(?:(?<![A-Za-z0-9_])PIN(?: code| number)?|(?<![A-Za-z])[Pp]in (?:code|number)|(?:my|his|her|our|your|card|sim|bank|debit|phone|door|alarm|the) pin|(?:door|alarm|gate|access|security|safe|unlock|entry) code)(?: (?:for|to|of) [^\n.!?:;]{1,40}?)?(?:[ \t]*[:=]|[ \t]+(?:is|was))?(?: now| still)?[ \t]+["'`]?(\d{4,8})(?![\d-]|[.,:]\d)/dg;

function* pins(text: string): Generator<Span> {
  for (const match of text.matchAll(PIN)) {
    const at = match.indices?.[1];
    if (at === undefined || /gpio[ _-]?$/i.test(text.slice(Math.max(0, match.index - 6), match.index))) continue;
    if (!UNITS.test(text.slice(at[1], at[1] + 20))) yield { start: at[0], end: at[1], kind: "pin" };
  }
}

const SEED =
  /(?:(?:seed|recovery|mnemonic|backup)[ -]?(?:phrase|words?)|mnemonic|wallet seed)(?: (?:for|of|to) [^\n.!?:;]{1,40}?)?(?:[ \t]*[:=]|[ \t]+(?:is|are|was):?)?[\s"'`“]{1,4}/gi;
const SEED_WORD = /(?:\d{1,2}[.)][ \t]?)?([a-z]{3,8})(?![A-Za-z0-9'’])(?:,?[ \t\r\n]{1,3})?/y;
const NEVER_SEED = new Set(["the", "and", "for", "was", "are", "has", "had", "but", "not", "which", "from", "were"]);

function* seedPhrases(text: string): Generator<Span> {
  for (const match of text.matchAll(SEED)) {
    const start = match.index + match[0].length;
    let end = start;
    let words = 0;
    SEED_WORD.lastIndex = start;
    for (let word = SEED_WORD.exec(text); word !== null && words < 24; word = SEED_WORD.exec(text)) {
      if (NEVER_SEED.has(word[1] ?? "")) break;
      end = word.index + word[0].trimEnd().replace(/,$/, "").length;
      words++;
    }
    if (words >= 12) yield { start, end, kind: "seed_phrase" };
  }
}

const NEAR =
  /(?<![A-Za-z0-9_])(api[ _-]?keys?|access[ _-]?keys?|secret(?:[ _-]?keys?)?s?|(?:auth|access|refresh|bot|api)?[ _-]?tokens?|credentials?|keys?)(?:[ \t]+(?:for|of|to|from)[ \t]+[^\n.!?;:]{1,40}?)?([ \t]*[:=]|[ \t]+(?:is|was|are|->))?[ \t"'`(*]{1,4}([A-Za-z0-9][A-Za-z0-9+/_=.~-]{9,})/dgi;

function* nearSecretWords(text: string): Generator<Span> {
  for (const match of text.matchAll(NEAR)) {
    const [, word = "", link, found = ""] = match;
    const at = match.indices?.[3];
    const value = found.replace(/[.]+$/, "");
    if (at === undefined || isPlaceholder(value.slice(0, 256)) || isExpression(value.slice(0, 256))) continue;
    // A bare "key" often stands before a cache key or a digest; those are hexadecimal.
    const bareKey = /^keys?$/i.test(word);
    if (bareKey && /^[0-9a-f]+$/i.test(value)) continue;
    if (looksRandom(value, link === undefined || bareKey ? 20 : 10))
      yield { start: at[0], end: at[0] + value.length, kind: "secret" };
  }
}

export const languageFinders: readonly ((text: string) => Iterable<Span>)[] = [
  seedPhrases,
  pins,
  passwords,
  nearSecretWords,
];
