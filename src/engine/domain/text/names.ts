import { lruCache } from "../collections/lru-cache.ts";

/**
 * Names of the people who speak. A vector is dominated by them: every turn between Ada and Grace looks alike because it says
 * "Ada" and "Grace". So the names of a session's speakers are left out of what is embedded, on both sides; words and rows keep them.
 */

/** What logs call the two sides of a conversation: not names of anyone, and words of their own ("user interface"). */
const ROLES: ReadonlySet<string> = new Set(
  "user assistant system tool human ai agent bot butler model developer function me".split(" "),
);

/** Two letters at least: initials and pronouns would take too much away. A pattern of thousands of letters would not even compile. */
const NAME = /^\p{L}[\p{L}\p{M}.\u2019'-]{1,63}$/u;

/** "Ada Lovelace" → ada. The index on speakers is over the same expression: the first word, in lower case. */
export function firstName(speaker: string | null | undefined): string | undefined {
  const name = (speaker ?? "").split(" ", 1)[0]?.toLowerCase() ?? "";
  return NAME.test(name) && !ROLES.has(name) ? name : undefined;
}

export function namesOf(speakers: readonly (string | null | undefined)[]): string[] {
  return [...new Set(speakers.flatMap((speaker) => firstName(speaker) ?? []))].sort();
}

const WORD = /[\p{L}\p{M}]+(?:[.\u2019'-][\p{L}\p{M}]+)*/gu;
const MAX_WORDS = 64;

/** The words of a question that could be somebody's name, in lower case; "Ada's" could be Ada. */
export function possibleNames(text: string): string[] {
  const words = new Set<string>();
  for (const [word] of text.matchAll(WORD)) {
    const bare = word.replace(/['\u2019]s?$/, "");
    const name = firstName(bare);
    if (name !== undefined && /^\p{Lu}/u.test(bare)) words.add(name);
    if (words.size === MAX_WORDS) break;
  }
  return [...words];
}

const LETTERS = /^\p{L}+$/u;

/** The text without those names; the whole text if nothing else would be left. */
export function withoutNames(text: string, names: readonly string[]): string {
  if (names.length === 0) return text;
  // Names of letters alone cannot overlap, so that each is taken out by itself: a pattern of its own is known from earlier questions, one for
  // just these names together seldom is, and the first use of a pattern takes half a millisecond.
  const patterns = names.every((name) => LETTERS.test(name)) ? names.map((name) => anyOf([name])) : [anyOf(names)];
  const rest = patterns
    .reduce((left, pattern) => left.replace(pattern, " "), text)
    .replace(/\s+/g, " ")
    .trim();
  return /[\p{L}\p{N}]/u.test(rest) ? rest : text;
}

/** The same few people are named again and again, and a pattern is fast from its second use on. */
const patterns = lruCache<string, RegExp>(500);

function anyOf(names: readonly string[]): RegExp {
  // The longest first: Ann would leave half of Ann-Marie behind.
  const any = names
    .toSorted((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|");
  const known = patterns.get(any);
  if (known !== undefined) return known;
  const made = new RegExp(`(?<![\\p{L}\\p{N}])(?:${any})(?:['\u2019]s)?(?![\\p{L}\\p{N}])`, "giu");
  patterns.set(any, made);
  return made;
}
