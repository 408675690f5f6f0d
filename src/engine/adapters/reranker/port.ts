/** Reads a question and a memory together and says how well they fit. */
export interface Reranker {
  /** For `explain` and the bench. */
  readonly name: string;
  /** One score in 0..1 for each text, in the order given: the same question and text always give the same score. */
  score(query: string, texts: readonly string[]): Promise<Float32Array>;
  close(): Promise<void>;
}
