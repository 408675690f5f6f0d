/** Counts tokens for budgets. Deterministic and offline. */
export interface Tokenizer {
  readonly name: string;
  count(text: string): number;
}
