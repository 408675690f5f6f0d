import type { TokenBits } from "../../domain/ranking/token-bits.ts";

export type { TokenBits };

/** Which weights made a vector. Two vectors are comparable only if all four are equal. */
export interface ModelVersion {
  readonly model: string;
  readonly variant: "int8" | "fp32";
  readonly dimensions: number;
  readonly sha256: string;
}

/** What one forward pass gives. */
export interface Embedding {
  /** L2-normalised. */
  readonly vector: Float32Array;
  readonly tokens: TokenBits;
}

export interface Embedder {
  readonly version: ModelVersion;
  /** One text per run, so that the same text always gives the same numbers. Queries overtake waiting writes. */
  embed(text: string, priority: "query" | "write"): Promise<Embedding>;
  close(): Promise<void>;
}
