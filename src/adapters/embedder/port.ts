/** Which weights made a vector. Two vectors are comparable only if all four are equal. */
export interface ModelVersion {
  readonly model: string;
  readonly variant: "int8" | "fp32";
  readonly dimensions: number;
  readonly sha256: string;
}

export interface Embedder {
  readonly version: ModelVersion;
  /** One text per run, so that the same text always gives the same vector. L2-normalised. Queries overtake waiting writes. */
  embed(text: string, priority: "query" | "write"): Promise<Float32Array>;
  close(): Promise<void>;
}
