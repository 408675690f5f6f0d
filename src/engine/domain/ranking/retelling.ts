/**
 * What a block makes of a memory whatever the prompt is: its line, and what it says the same as. Whoever holds the memory in this process keeps it
 * beside it, until it changes: looking the same up by the texts themselves took a seventh of a block's time.
 */
export interface Retelling {
  /** Equal for memories that say the same. */
  key: string | undefined;
  /** Whether it is told to no prompt, or only to one that asks for it. */
  idle: "empty" | "idle" | "no" | undefined;
  /** Of a fact with so many tenths of confidence. */
  tenths: number | undefined;
  line: string | undefined;
  /** Tokens of the line and of the line in a list (block-json.ts), and who counted them. */
  tokens: number | undefined;
  listedTokens: number | undefined;
  countedBy: object | undefined;
}

export const newRetelling = (): Retelling => ({
  key: undefined,
  idle: undefined,
  tenths: undefined,
  line: undefined,
  tokens: undefined,
  listedTokens: undefined,
  countedBy: undefined,
});
