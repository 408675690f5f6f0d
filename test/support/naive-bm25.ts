/** BM25 as the textbook says it, with none of the index's machinery. Terms are words or their hashes. */
export interface NaiveDoc<Term> {
  readonly id: string;
  readonly len: number;
  readonly tf: ReadonlyMap<Term, number>;
}

export function naiveBm25<Term>(docs: readonly NaiveDoc<Term>[], query: readonly Term[]) {
  const n = docs.length;
  const avgdl =
    Math.max(
      1,
      docs.map((doc) => doc.len).reduce((a, b) => a + b, 0),
    ) / n;
  return docs
    .map((doc) => {
      let score = 0;
      for (const term of query) {
        const tf = doc.tf.get(term);
        if (tf === undefined) continue;
        const df = docs.filter((other) => other.tf.has(term)).length;
        const idf = Math.log(1 + (n - df + 0.5) / (df + 0.5));
        const exact = (2.2 * idf * tf) / (tf + 1.2 * (1 - 0.75 + (0.75 * doc.len) / avgdl));
        score += Math.max(1, Math.round(exact * 1e6));
      }
      return { memoryId: doc.id, score };
    })
    .filter((hit) => hit.score > 0)
    .sort((a, b) => b.score - a.score || (a.memoryId < b.memoryId ? -1 : 1));
}

export function naiveDoc(id: string, words: readonly string[]): NaiveDoc<string> {
  const tf = new Map<string, number>();
  for (const word of words) tf.set(word, (tf.get(word) ?? 0) + 1);
  return { id, len: words.length, tf };
}
