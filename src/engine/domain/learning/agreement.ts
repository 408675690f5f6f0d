/** Whether two sentences that look alike also say the same: a near twin with another number or a "not" is no twin. */
import { lexemes } from "../text/lexemes.ts";
import { sameMeaning } from "../text/text.ts";

const NEGATION =
  /\b(?:not|no|never|none|nor|neither|without|cannot|stop|avoid|nicht|kein\w*|nie|ohne)\b|n['\u2019]t\b/giu;
const NUMBER = /\d+(?:[.,:]\d+)*/g;
/** The one that says less must still say most of it. */
const LEAST = 0.6;

const negations = (text: string): number => text.match(NEGATION)?.length ?? 0;
const numbers = (text: string): string => [...(text.match(NUMBER) ?? [])].sort().join(" ");
const affirmed = (text: string): Set<string> => new Set(lexemes(text.replace(NEGATION, " ")));

/** `more`: the same, and something besides. `opposite`: the same words, of which one side denies them. */
export type Agreement = "same" | "more" | "opposite" | "different";

/**
 * Of a newly told sentence with a known one. Each must not have a word that the other lacks: "her favourite inn is the Swan"
 * and "is the Lion" share all words but the one that matters.
 */
export function agreement(told: string, known: string): Agreement {
  if (sameMeaning(told, known)) return "same";
  if (numbers(told) !== numbers(known)) return "different";
  const [mine, theirs] = [affirmed(told), affirmed(known)];
  const [less, more] = mine.size <= theirs.size ? [mine, theirs] : [theirs, mine];
  if (less.size < LEAST * more.size || ![...less].every((word) => more.has(word))) return "different";
  if (negations(told) % 2 !== negations(known) % 2) return "opposite";
  return mine.size > theirs.size ? "more" : "same";
}

export const saysSame = (told: string, known: string): boolean => ["same", "more"].includes(agreement(told, known));

/** A sentence that can be understood alone. "Porto" under two predicates is two facts. */
export const isTelling = (text: string): boolean => affirmed(text).size >= 3;
