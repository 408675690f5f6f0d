/**
 * Snowball English ("Porter2"), written after its published description. Stemming happens here and not in the database
 * because servers disagree: "adding" is `ad` for PostgreSQL 15 and `add` for 18, and an upgrade would change the index.
 * Changing this file changes the lexemes of stored memories: it asks for a rebuild of the lexical tables.
 */
import { alone } from "./remembered.ts";

const VOWELS = "aeiouy";
const isVowel = (c: string | undefined) => c !== undefined && VOWELS.includes(c);

const WHOLE_WORDS: ReadonlyMap<string, string> = new Map([
  ["skis", "ski"],
  ["skies", "sky"],
  ["dying", "die"],
  ["lying", "lie"],
  ["tying", "tie"],
  ["idly", "idl"],
  ["gently", "gentl"],
  ["ugly", "ugli"],
  ["early", "earli"],
  ["only", "onli"],
  ["singly", "singl"],
  ...["sky", "news", "howe", "atlas", "cosmos", "bias", "andes"].map((word) => [word, word] as const),
]);

/** Beginnings after which the first region starts late, so that "general" and "generate" stay two words. */
const LONG_BEGINNINGS = ["gener", "commun", "arsen"];

/** Nouns in -ing: what is left without the ending is another word ("inning" is not "inn"). */
const NOUNS_BEFORE_ING = new Set(["inn", "out", "cann", "herr", "earr"]);
const VERBS_BEFORE_EED = new Set(["proc", "exc", "succ"]);

type Rule = readonly [ending: string, replacement: string];

/** Longest ending first: the first that fits is the only one tried. */
const longestFirst = (rules: readonly Rule[]) => [...rules].sort((a, b) => b[0].length - a[0].length);

const STEP_2 = longestFirst([
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["abli", "able"],
  ["entli", "ent"],
  ["izer", "ize"],
  ["ization", "ize"],
  ["ational", "ate"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["aliti", "al"],
  ["alli", "al"],
  ["fulness", "ful"],
  ["fulli", "ful"],
  ["ousli", "ous"],
  ["ousness", "ous"],
  ["iveness", "ive"],
  ["iviti", "ive"],
  ["biliti", "ble"],
  ["bli", "ble"],
  ["lessli", "less"],
  ["ogi", "og"],
  ["li", ""],
]);

const STEP_3 = longestFirst([
  ["ational", "ate"],
  ["tional", "tion"],
  ["alize", "al"],
  ["icate", "ic"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ative", ""],
  ["ness", ""],
  ["ful", ""],
]);

const STEP_4 = longestFirst(
  "al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion".split(" ").map((e) => [e, ""] as const),
);

/** Where the part after the first non-vowel that follows a vowel begins, looking from `from`. */
function region(word: string, from: number): number {
  let i = from;
  while (i < word.length && !isVowel(word[i])) i++;
  while (i < word.length && isVowel(word[i])) i++;
  return Math.min(i + 1, word.length);
}

/** A consonantal y is written Y from here on, so that it does not count as a vowel. */
function markConsonantY(word: string): string {
  if (!word.includes("y")) return word;
  let out = "";
  let before = "a";
  for (const c of word) {
    before = c === "y" && isVowel(before) ? "Y" : c;
    out += before;
  }
  return out;
}

function endsInShortSyllable(stem: string): boolean {
  const n = stem.length;
  if (n < 2 || isVowel(stem[n - 1]) || !isVowel(stem[n - 2])) return false;
  if (n === 2) return true;
  return !isVowel(stem[n - 3]) && !"wxY".includes(stem[n - 1] as string);
}

const hasVowel = (s: string) => /[aeiouy]/.test(s);

function plural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (word.endsWith("ied") || word.endsWith("ies")) return word.slice(0, word.length > 4 ? -2 : -1);
  if (word.endsWith("us") || word.endsWith("ss") || !word.endsWith("s")) return word;
  return hasVowel(word.slice(0, -2)) ? word.slice(0, -1) : word;
}

function pastAndProgressive(word: string, r1: number): string {
  const ending = ["eedly", "ingly", "edly", "eed", "ing", "ed"].find((e) => word.endsWith(e));
  if (ending === undefined) return word;
  const stem = word.slice(0, -ending.length);
  if (ending === "eed" || ending === "eedly") {
    if (stem.length < r1) return word;
    return ending === "eed" && VERBS_BEFORE_EED.has(stem) ? word : `${stem}ee`;
  }
  if (!hasVowel(stem)) return word;
  if (ending === "ing" && NOUNS_BEFORE_ING.has(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(stem)) return /^[aeo]..$/.test(stem) ? stem : stem.slice(0, -1);
  return stem.length === r1 && endsInShortSyllable(stem) ? `${stem}e` : stem;
}

function finalY(word: string): string {
  const n = word.length;
  return n > 2 && /[yY]$/.test(word) && !isVowel(word[n - 2]) ? `${word.slice(0, -1)}i` : word;
}

/** `region` is the first index that the ending may cover; `allowed` is the extra condition of single endings. */
function replaceEnding(
  word: string,
  rules: readonly Rule[],
  region: number,
  allowed: (ending: string, stem: string) => boolean,
): string {
  const rule = rules.find(([ending]) => word.endsWith(ending));
  if (rule === undefined) return word;
  const stem = word.slice(0, -rule[0].length);
  return stem.length >= region && allowed(rule[0], stem) ? stem + rule[1] : word;
}

function finalEOrL(word: string, r1: number, r2: number): string {
  const stem = word.slice(0, -1);
  if (word.endsWith("e")) return stem.length >= r2 || (stem.length >= r1 && !endsInShortSyllable(stem)) ? stem : word;
  return word.endsWith("ll") && stem.length >= r2 ? stem : word;
}

/** People use few words: most have been stemmed a moment ago. */
const MOST_KNOWN = 16_384;
const LONGEST_KNOWN = 24;
let known = new Map<string, string>();

/** `word` is lower case. Words that are not plain a–z come back unchanged. */
export function stem(word: string): string {
  if (word.length > LONGEST_KNOWN) return stemOf(word);
  const before = known.get(word);
  if (before !== undefined) return before;
  const own = alone(word);
  const made = stemOf(own);
  if (known.size >= MOST_KNOWN) known = new Map();
  known.set(own, made);
  return made;
}

function stemOf(word: string): string {
  if (word.length <= 2 || !/^[a-z]+$/.test(word)) return word;
  const whole = WHOLE_WORDS.get(word);
  if (whole !== undefined) return whole;

  let w = markConsonantY(word);
  const beginning = LONG_BEGINNINGS.find((b) => w.startsWith(b));
  const r1 = beginning === undefined ? region(w, 0) : beginning.length;
  const r2 = region(w, r1);

  w = plural(w);
  w = pastAndProgressive(w, r1);
  w = finalY(w);
  w = replaceEnding(w, STEP_2, r1, (ending, s) => {
    if (ending === "li") return /[cdeghkmnrt]$/.test(s);
    return ending === "ogi" ? s.endsWith("l") : true;
  });
  w = replaceEnding(w, STEP_3, r1, (ending, s) => ending !== "ative" || s.length >= r2);
  w = replaceEnding(w, STEP_4, r2, (ending, s) => ending !== "ion" || /[st]$/.test(s));
  w = finalEOrL(w, r1, r2);
  return w.replaceAll("Y", "y");
}
