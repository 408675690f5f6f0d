import { createHash } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { integrity } from "../../domain/errors.ts";
import type { ModelVersion } from "../embedder/port.ts";
import { type Log, silentLog } from "../log.ts";
import {
  CATALOGUE,
  MODEL_NAME,
  MODEL_VARIANTS,
  type ModelFile,
  type ModelSource,
  type ModelVariant,
  SOURCE_ORDER,
} from "./catalogue.ts";

/** A verified model on this disk. */
export interface ModelFiles {
  readonly version: ModelVersion;
  readonly weights: string;
  readonly tokenizer: string;
  readonly origin: "modelDir" | "cache";
}

export type FileState = "present" | "missing" | "corrupt";

export interface FileStatus {
  readonly path: string;
  readonly state: FileState;
  readonly bytes: number;
  readonly sha256: string;
}

export interface ModelStatus {
  readonly model: string;
  readonly variant: ModelVariant;
  readonly state: FileState;
  readonly origin: "modelDir" | "cache" | undefined;
  readonly weights: FileStatus;
  readonly tokenizer: FileStatus;
  /** Where a pull would look, in this order. */
  readonly sources: readonly ModelSource[];
}

interface ModelFolders {
  /** A folder that a person filled by hand (`BUTLER_MODEL_DIR`). */
  readonly modelDir?: string | undefined;
  readonly cacheDir: string;
}

interface Found {
  readonly file: ModelFile;
  readonly path: string;
  readonly state: FileState;
}

export const cachePath = (cacheDir: string, file: ModelFile) => join(cacheDir, MODEL_NAME, file.path);

/** People copy a checkout of the hub, a cache folder, or the bare files into it. */
const modelDirPaths = (modelDir: string, file: ModelFile) => [
  join(modelDir, file.path),
  join(modelDir, MODEL_NAME, file.path),
  join(modelDir, basename(file.path)),
];

/** One buffer for the whole file: a stream of fresh ones left the process 25 MB larger. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(256 * 1024);
  const handle = await open(path);
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

/** Hashes at every start: 23 MB take about 25 ms, in steps of 0.3 ms, and a marker file could be wrong. */
export async function fileState(path: string, file: ModelFile): Promise<FileState> {
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
  if (info === undefined) return "missing";
  if (!info.isFile() || info.size !== file.bytes) return "corrupt";
  return (await sha256Of(path)) === file.sha256 ? "present" : "corrupt";
}

async function findIn(paths: readonly string[], file: ModelFile): Promise<Found> {
  for (const path of paths) {
    const state = await fileState(path, file);
    if (state !== "missing") return { file, path, state };
  }
  return { file, path: paths[0] ?? file.path, state: "missing" };
}

async function findPair(variant: ModelVariant, paths: (file: ModelFile) => readonly string[]) {
  const { weights, tokenizer } = CATALOGUE[variant];
  const [w, t] = await Promise.all([findIn(paths(weights), weights), findIn(paths(tokenizer), tokenizer)]);
  return { weights: w, tokenizer: t };
}

const pairState = (pair: { weights: Found; tokenizer: Found }): FileState => {
  const states = [pair.weights.state, pair.tokenizer.state];
  if (states.includes("corrupt")) return "corrupt";
  return states.includes("missing") ? "missing" : "present";
};

function refuse(pair: { weights: Found; tokenizer: Found }, advice: string): never {
  const bad = [pair.weights, pair.tokenizer].find((found) => found.state === "corrupt");
  throw integrity(
    `The model file ${bad?.path} is not the expected one (${bad?.file.bytes} bytes, sha256 ${bad?.file.sha256}). ${advice}`,
  );
}

/** Looks in `modelDir` first, then in the cache; undefined when neither has the model. A file with a wrong hash is never used. */
export async function locateModel(
  options: ModelFolders & { readonly variant: ModelVariant; readonly log?: Log },
): Promise<ModelFiles | undefined> {
  const { variant, modelDir, cacheDir, log = silentLog } = options;
  const { version } = CATALOGUE[variant];
  if (modelDir !== undefined) {
    const pair = await findPair(variant, (file) => modelDirPaths(modelDir, file));
    const state = pairState(pair);
    if (state === "corrupt") refuse(pair, "Put the right file there, or stop pointing to this folder.");
    if (state === "present") {
      return { version, weights: pair.weights.path, tokenizer: pair.tokenizer.path, origin: "modelDir" };
    }
    log.warn({ modelDir, variant }, "the model folder lacks files of this variant; looking in the cache");
  }
  const pair = await findPair(variant, (file) => [cachePath(cacheDir, file)]);
  const state = pairState(pair);
  if (state === "corrupt") refuse(pair, "`butler model pull` replaces it.");
  if (state === "missing") return undefined;
  return { version, weights: pair.weights.path, tokenizer: pair.tokenizer.path, origin: "cache" };
}

const fileStatus = (found: Found): FileStatus => ({
  path: found.path,
  state: found.state,
  bytes: found.file.bytes,
  sha256: found.file.sha256,
});

/** What `locateModel` would find, for every variant, without throwing. */
export async function modelStatus(options: ModelFolders): Promise<ModelStatus[]> {
  const { modelDir, cacheDir } = options;
  const statusOf = async (variant: ModelVariant): Promise<ModelStatus> => {
    const inDir = modelDir === undefined ? undefined : await findPair(variant, (file) => modelDirPaths(modelDir, file));
    const fromDir = inDir !== undefined && pairState(inDir) !== "missing" ? inDir : undefined;
    const pair = fromDir ?? (await findPair(variant, (file) => [cachePath(cacheDir, file)]));
    const state = pairState(pair);
    return {
      model: MODEL_NAME,
      variant,
      state,
      origin: fromDir !== undefined ? "modelDir" : state === "missing" ? undefined : "cache",
      weights: fileStatus(pair.weights),
      tokenizer: fileStatus(pair.tokenizer),
      sources: SOURCE_ORDER,
    };
  };
  const all: ModelStatus[] = [];
  for (const variant of MODEL_VARIANTS) all.push(await statusOf(variant));
  return all;
}
