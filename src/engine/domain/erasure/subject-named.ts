/** Whether a text names a subject. A word for the person ("user", "me") stands in texts about anybody; a name does not. */
import { isPerson } from "../learning/person.ts";
import { normaliseKey } from "../text/text.ts";

const escaped = (word: string): string => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const wordsOf = (subject: string): string[] =>
  isPerson(subject)
    ? []
    : normaliseKey(subject)
        .split(/[\s:]+/)
        .filter((word) => word !== "");

/** For the database's `~*`; undefined where no text can name it. */
export function namePattern(subject: string): string | undefined {
  const words = wordsOf(subject).map(escaped);
  return words.length === 0 ? undefined : `(^|[^[:alnum:]])${words.join("[^[:alnum:]]+")}([^[:alnum:]]|$)`;
}

export function subjectNamed(subject: string): (text: string) => boolean {
  const words = wordsOf(subject).map(escaped);
  if (words.length === 0) return () => false;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${words.join("[^\\p{L}\\p{N}]+")}(?![\\p{L}\\p{N}])`, "iu");
  return (text) => pattern.test(text);
}
