/**
 * A summary made of the text's own sentences: those whose words weigh most in the text, in their order. Nothing is
 * invented, the same text gives the same summary, and every word of it is a word of the original.
 */
import { lexemes } from "./lexemes.ts";
import { splitSentences } from "./split-sentences.ts";
import { clip } from "./text.ts";

export interface SummarySize {
  readonly sentences: number;
  readonly chars: number;
}

/** What comes to mid keeps its gist, what comes to long its core. */
export const SUMMARY_SIZE: Readonly<Record<"mid" | "long", SummarySize>> = {
  mid: { sentences: 5, chars: 800 },
  long: { sentences: 3, chars: 400 },
};

/** Openings tell what a text is about; the end often tells what came of it. */
const FIRST = 1.5;
const LAST = 1.2;
/** A sentence of two words is rarely worth keeping, however often the words occur. */
const SHORT_WORDS = 4;
/** Reading more of a huge text changes little and costs a lot. */
const MOST_SENTENCES = 2000;

const ENDS = /(?<=[.!?…]["'”’)\]]{0,4})\s+(?=["'“‘(¿¡*\p{Lu}\p{N}-])|(?<=[。！？])|(?<!\s)\s*\n\s*/u;
const ABBREVIATED = /(?:^|[\s(])(?:Dr|Mr|Mrs|Ms|Prof|St|No|vs|e\.g|i\.e|approx|\p{Lu})\.$/u;

export const sentencesOf = (text: string): string[] => splitSentences(text, ENDS, ABBREVIATED);

export function summarise(text: string, size: SummarySize): string {
  const whole = text.trim();
  const sentences = sentencesOf(whole).slice(0, MOST_SENTENCES);
  if (whole.length <= size.chars && sentences.length <= size.sentences) return whole;

  const words = sentences.map((sentence) => [...new Set(lexemes(sentence))]);
  const weight = weigh(sentences);
  const kept = new Set<number>();
  let chars = 0;
  while (kept.size < size.sentences) {
    const best = heaviest(sentences, words, weight, kept, size.chars - chars);
    if (best === undefined) break;
    kept.add(best);
    chars += (sentences[best]?.length ?? 0) + 1;
    // What has been said once need not be said again.
    for (const word of words[best] ?? []) weight.set(word, (weight.get(word) ?? 0) / 4);
  }
  const gist = sentences.filter((_, index) => kept.has(index)).join(" ");
  return gist === "" ? clip(sentences[0] ?? whole, size.chars) : gist;
}

function weigh(sentences: readonly string[]): Map<string, number> {
  const count = new Map<string, number>();
  for (const sentence of sentences) for (const word of lexemes(sentence)) count.set(word, (count.get(word) ?? 0) + 1);
  return new Map([...count].map(([word, n]) => [word, Math.log1p(n)]));
}

function heaviest(
  sentences: readonly string[],
  words: readonly (readonly string[])[],
  weight: ReadonlyMap<string, number>,
  kept: ReadonlySet<number>,
  room: number,
): number | undefined {
  let best: number | undefined;
  let most = 0;
  for (const [index, sentence] of sentences.entries()) {
    if (kept.has(index) || sentence.length > room) continue;
    const own = words[index] ?? [];
    const sum = own.reduce((total, word) => total + (weight.get(word) ?? 0), 0);
    const byPosition = index === 0 ? FIRST : index === sentences.length - 1 ? LAST : 1;
    const score = (byPosition * sum) / Math.sqrt(Math.max(SHORT_WORDS, own.length));
    if (score > most) {
      most = score;
      best = index;
    }
  }
  return best;
}
