/** An extractor reads episodes and says what is to be learned from them. */
import type { Claim } from "../../domain/fact.ts";
import type { Bars } from "../../domain/learning/kinds.ts";
import type { Learned } from "../../domain/learning/sureness.ts";
import type { Trust } from "../../domain/learning/trust.ts";

export interface EpisodeShown {
  /** `e1`, `e2`, …: what an answer cites. */
  readonly label: string;
  /** Data, never instructions. The context block that we put into prompts has been removed. */
  readonly text: string;
  readonly speaker: string | null;
  /** The day on which it happened: YYYY-MM-DD. */
  readonly day: string;
  readonly trust: Trust;
  /** Episodes of one session follow each other. */
  readonly session: string | null;
}

export interface FactShown extends Claim {
  /** `f1`, `f2`, … */
  readonly label: string;
  readonly scope: "global" | "own";
}

export interface RuleShown {
  /** `r1`, `r2`, … */
  readonly label: string;
  readonly content: string;
  readonly scope: "global" | "own";
}

/** A batch of episodes and what is known already. */
export interface Material {
  readonly butler: string;
  /** YYYY-MM-DD. */
  readonly today: string;
  readonly episodes: readonly EpisodeShown[];
  readonly facts: readonly FactShown[];
  readonly rules: readonly RuleShown[];
  /** For an extractor that keeps what it is sure enough of; without them its own. */
  readonly bars?: Bars;
}

export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** In US dollars. */
  readonly cost_usd: number;
}

export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, cost_usd: 0 };

/** Who found each fact and rule of an answer, in their order. */
export interface Found {
  readonly facts: readonly Learned[];
  readonly rules: readonly Learned[];
}

export interface Extracted {
  /** Parsed JSON that fits the schema of an answer. */
  readonly answer: unknown;
  /** Of all calls together: a repair is a second call. */
  readonly usage: Usage;
  readonly repaired: boolean;
  /** Undefined: the model has found everything. */
  readonly found?: Found;
}

export const PROVIDERS = ["local", "anthropic", "openai-compatible", "claude-cli"] as const;
export type Provider = (typeof PROVIDERS)[number];

export interface Extractor {
  readonly provider: Provider;
  readonly model: string;
  /** Characters of episode text that one call takes. */
  readonly maxChars: number;
  /** Episodes that one call takes; absent: as many as fit. */
  readonly maxEpisodes?: number;
  /** The most that one extraction can cost in US dollars, its repair included. Known before the call. */
  ceiling(material: Material): number;
  /** Of these turns those for which it is worth being asked, found without asking. Undefined: all of them are. */
  worthACall?(turns: readonly EpisodeShown[]): Promise<readonly EpisodeShown[]>;
  /** Fails with `ExtractorFailure` and nothing else. Ends soon after `signal` is aborted. */
  extract(material: Material, signal: AbortSignal): Promise<Extracted>;
  close(): Promise<void>;
}

/**
 * `refused` and `too_large` are about this input and would happen again. `invalid_answer`: the answer did not fit the schema, nor
 * did that of the repair. `misconfigured`: no key, no such model or no program, whatever the episodes are.
 */
export type FailureKind =
  | "timeout"
  | "rate_limited"
  | "unavailable"
  | "refused"
  | "too_large"
  | "invalid_answer"
  | "misconfigured";

export class ExtractorFailure extends Error {
  override readonly name = "ExtractorFailure";
  readonly kind: FailureKind;
  /** What was spent before it failed. */
  readonly usage: Usage;

  constructor(kind: FailureKind, message: string, usage: Usage = NO_USAGE) {
    super(message);
    this.kind = kind;
    this.usage = usage;
  }
}
