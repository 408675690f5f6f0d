import { stem } from "./stemmer.ts";
import { STOP_WORDS } from "./stop-words.ts";

/** A letter or digit, then letters, digits and the marks that belong to them; an apostrophe or underscore only inside. */
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['\u2019_]+[\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*/gu;
/** The same where all is ASCII, as most of what developers write: three times as fast. */
const ASCII_WORD = /[A-Za-z0-9]+(?:['_]+[A-Za-z0-9]+)*/g;
const IS_ASCII = /^[\0-\x7f]*$/;
const UNSPACED =
  "\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Bopo}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}";
const BY_SCRIPT = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, "gu");
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");
const IS_HAN = /^\p{scx=Han}$/u;
/** `fooBar` → foo|Bar and `HTTPServer` → HTTP|Server, but not `URLs` → UR|Ls. */
const MAY_BE_CAMEL = /[^A-Z][A-Z]|[A-Z]{2}[a-z]{2}|[^\0-\x7f]/;
const CAMEL = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})/u;
const CONTRACTION = /^(?:s|d|m|ll|re|ve)$/;
/** Longer runs are hashes and encoded data: their parts would be noise. */
const LONGEST_WORD = 64;

/**
 * The words of a text as they are indexed and asked for, with repetitions: lower case, without stop words, stemmed.
 * Identifiers give their parts and the whole (`memoryStore`, `memory_store` → memori, store, memorystor), so that
 * "github" finds "GitHub". Scripts without spaces give pairs of characters, and single characters for Han.
 */
export function lexemes(text: string): string[] {
  const words: string[] = [];
  if (IS_ASCII.test(text)) for (const run of text.match(ASCII_WORD) ?? []) pushWords(run, words);
  else for (const run of text.normalize("NFKC").match(WORD) ?? []) pushRun(run, words);
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return (telling.length > 0 ? telling : words).map(stem);
}

function pushRun(run: string, out: string[]): void {
  for (const piece of IS_ASCII.test(run) ? [run] : (run.match(BY_SCRIPT) ?? [])) {
    if (IS_UNSPACED.test(piece)) pushPairs(piece, out);
    else pushWords(piece, out);
  }
}

function pushPairs(run: string, out: string[]): void {
  const chars = [...run];
  for (const [i, char] of chars.entries()) {
    const next = chars[i + 1];
    if (next !== undefined) out.push(char + next);
    if (chars.length === 1 || IS_HAN.test(char)) out.push(char);
  }
}

function pushWords(run: string, out: string[]): void {
  for (const word of apart(run)) {
    if (word.length > LONGEST_WORD || !(word.includes("_") || MAY_BE_CAMEL.test(word))) {
      if (word !== "") out.push(word.toLowerCase());
      continue;
    }
    const parts = word.split("_").flatMap((part) => part.split(CAMEL));
    const spelt = parts.map((part) => part.toLowerCase()).filter((part) => part !== "");
    out.push(...spelt);
    if (spelt.length > 1) out.push(spelt.join(""));
  }
}

/** `Ann's` → Ann, `don't` → dont (a stop word), `O'Brien` → O, Brien. */
function apart(run: string): string[] {
  if (!/['\u2019]/.test(run)) return [run];
  const parts = run.split(/['\u2019]+/);
  const last = (parts.at(-1) ?? "").toLowerCase();
  if (CONTRACTION.test(last)) return parts.slice(0, -1);
  if (last === "t") return [parts.join("")];
  return parts;
}
