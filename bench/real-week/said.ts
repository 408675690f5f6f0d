/** Finds the words of a person that taught something. */
const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));

/** The sentence of the person in an exchange that has most words in common with what was learned from it. */
export function saidFor(learned: string, exchange: string): string {
  const lines = exchange.split("\n").filter((line) => /^(?:User|Decided): /.test(line));
  const said = (lines.length > 0 ? lines : [exchange]).map((line) => line.replace(/^(?:User|Decided): /, ""));
  const sentences = said.flatMap((line) => line.split(/(?<=[.!?])\s+/));
  const wanted = wordsOf(learned);
  const common = (sentence: string) => [...wordsOf(sentence)].filter((word) => wanted.has(word)).length;
  return sentences.reduce((best, one) => (common(one) > common(best) ? one : best), "");
}
