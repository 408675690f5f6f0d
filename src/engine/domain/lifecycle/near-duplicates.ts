/** Whether two memories say nearly the same. Both signals must agree: a model alone finds "at 5" and "at 6" alike. */
import { lexemes } from "../text/lexemes.ts";

/** High on purpose: MiniLM gave "green tea over coffee" and "green tea to coffee." 0.976. */
export const NEAR_COSINE = 0.97;
export const NEAR_OVERLAP = 0.8;

export function areNearDuplicates(a: string, b: string, cosine: number): boolean {
  return cosine >= NEAR_COSINE && overlap(a, b) >= NEAR_OVERLAP && sameSet(telling(a), telling(b));
}

/** Of the words that either has, the part that both have. */
export function overlap(a: string, b: string): number {
  const mine = new Set(lexemes(a));
  const theirs = new Set(lexemes(b));
  const shared = [...mine].filter((word) => theirs.has(word)).length;
  const all = mine.size + theirs.size - shared;
  return all === 0 ? 0 : shared / all;
}

const NUMBER = /\p{N}+(?:[.,:/-]\p{N}+)*/gu;
const NEGATION = /(?<!\p{L})(?:no|not|never|none|without|cannot|\p{L}+n['’]t)(?!\p{L})/iu;

/** One of these turns a sentence into another one, however alike the rest is. */
function telling(text: string): Set<string> {
  const plain = text.normalize("NFKC");
  const numbers = [...plain.matchAll(NUMBER)].map(([number]) => number);
  return new Set([...numbers, ...(NEGATION.test(plain) ? ["not"] : [])]);
}

const sameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>) => a.size === b.size && [...a].every((x) => b.has(x));
