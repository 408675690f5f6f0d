/** What a call costs, and the most that it can cost. */
import type { Usage } from "./port.ts";

/** US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Some models charge more, never less, for the whole call when its prompt is longer than this. */
  readonly long?: { readonly overTokens: number; readonly input: number; readonly output: number };
}

export const FREE: Price = { input: 0, output: 0 };

/** Anthropic's public price list as of October 2026. The configuration may give another price. */
const CLAUDE: ReadonlyMap<string, Price> = new Map(
  Object.entries<Price>({
    "claude-fable-5-1": { input: 10, output: 50 },
    "claude-fable-5": { input: 10, output: 50 },
    "claude-opus-5-5": { input: 4, output: 20 },
    "claude-opus-5": { input: 5, output: 25 },
    "claude-opus-4-8": { input: 5, output: 25 },
    "claude-opus-4-7": { input: 5, output: 25 },
    "claude-opus-4-6": { input: 5, output: 25 },
    "claude-opus-4-5": { input: 5, output: 25 },
    "claude-opus-4-1": { input: 15, output: 75 },
    "claude-sonnet-5-5": { input: 2, output: 10 },
    "claude-sonnet-5": { input: 2, output: 10 },
    "claude-sonnet-4-6": { input: 3, output: 15 },
    "claude-sonnet-4-5": { input: 3, output: 15, long: { overTokens: 200_000, input: 6, output: 22.5 } },
    "claude-haiku-5-5": { input: 0.1, output: 0.5, long: { overTokens: 100_000, input: 0.5, output: 2.5 } },
    "claude-haiku-4-5": { input: 1, output: 5 },
  }),
);

/** The names that Claude Code takes for the newest of each kind. */
const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    fable: "claude-fable-5-1",
    opus: "claude-opus-5-5",
    sonnet: "claude-sonnet-5-5",
    haiku: "claude-haiku-5-5",
  }),
);

/** Undefined for a model that is not on the list: with a guessed price the daily cap would not hold. */
export function knownPrice(model: string): Price | undefined {
  const name = model.trim().replace(/-(\d{8}|latest)$/, "");
  return CLAUDE.get(ALIASES.get(name) ?? name);
}

export type Tokens = Pick<Usage, "input_tokens" | "output_tokens">;

/** Of one call: two calls may fall on different sides of `overTokens`. */
export function costOf(tokens: Tokens, price: Price): number {
  const rate = price.long !== undefined && tokens.input_tokens > price.long.overTokens ? price.long : price;
  return (tokens.input_tokens * rate.input + tokens.output_tokens * rate.output) / 1_000_000;
}

/** What a provider adds to a prompt: roles, and words about the schema. */
const OVERHEAD_TOKENS = 2_000;
/** The list of problems that a repair sends along. */
const REPAIR_TOKENS = 2_000;

/**
 * A tokenizer that works on bytes makes at most one token of each. Half as many would do for prose, not for other texts; measured
 * tokens per byte: base64 0.69, hex 0.57, rare Chinese 0.63, random characters 0.74, control characters 1.
 */
const mostTokens = (text: string) => Buffer.byteLength(text);

/** The most that one extraction costs: a call, and a repair that sends the prompt and the first answer again. */
export function ceilingOf(prompt: string, maxOutputTokens: number, price: Price): number {
  const first = mostTokens(prompt) + OVERHEAD_TOKENS;
  const repair = first + maxOutputTokens + REPAIR_TOKENS;
  const most = (input: number) => costOf({ input_tokens: input, output_tokens: maxOutputTokens }, price);
  return most(first) + most(repair);
}

export const addUsage = (one: Usage, other: Usage): Usage => ({
  input_tokens: one.input_tokens + other.input_tokens,
  output_tokens: one.output_tokens + other.output_tokens,
  cost_usd: one.cost_usd + other.cost_usd,
});
