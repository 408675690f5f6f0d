/** Finds or fetches the two files of a cross-encoder: from a folder or file that the configuration names, or from the hub by name, kept in the cache. */
import { mkdir, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { invalid, MemoryError, unavailable } from "../../domain/errors.ts";
import { HUB_URL } from "../model/catalogue.ts";
import { download, reason } from "../model/pull.ts";
import { type CrossEncoderFiles, openCrossEncoder } from "./cross-encoder.ts";
import { holdToPins } from "./pins.ts";

export interface CrossEncoderSource {
  /** A folder, an `.onnx` file, or a name on the hub. */
  readonly model: string;
  readonly cacheDir: string;
  /** The hash that the weights must have; without it, weights of the hub must have the hash of their first use. */
  readonly sha256?: string | undefined;
}

export interface FetchOptions {
  /** Scheme and host of the hub. */
  readonly hubUrl?: string | undefined;
  readonly answerWithinMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const TOKENIZER = "tokenizer.json";
const HUB_WEIGHTS = "onnx/model.onnx";
/** The precise weights first; the quantised ones beside them can be chosen by naming their file. */
const WEIGHTS = ["model.onnx", HUB_WEIGHTS, "model_quantized.onnx", "onnx/model_quantized.onnx"];
/** What one ONNX file can hold. */
const MAX_BYTES = 2 ** 31;
/** Neither part begins with a dot, so a name never leads out of the cache. */
const HUB_NAME = /^\w[\w.-]*\/\w[\w.-]*$/;

/** Without the folders of a path: the name is shown to agents. */
export const crossEncoderName = (model: string) => (HUB_NAME.test(model) ? model : basename(model));

/** Throws when the files do not have the bytes that are pinned for this name. */
export const checkCrossEncoder = (source: CrossEncoderSource, files: CrossEncoderFiles): Promise<void> =>
  holdToPins(source, files, HUB_NAME.test(source.model));

async function isFile(path: string): Promise<boolean> {
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
  return info?.isFile() ?? false;
}

async function firstFile(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await isFile(path)) return path;
  return undefined;
}

async function filesAt(path: string, name: string): Promise<CrossEncoderFiles | undefined> {
  const file = path.endsWith(".onnx");
  const weights = await firstFile(file ? [path] : WEIGHTS.map((weight) => join(path, weight)));
  // A checkout of a hub repository has its weights one folder below.
  const folders = file ? [dirname(path), dirname(dirname(path))] : [path];
  const tokenizer = await firstFile(folders.map((folder) => join(folder, TOKENIZER)));
  return weights && tokenizer ? { name, weights, tokenizer } : undefined;
}

/** Undefined when the cache lacks a model of the hub. A path in the configuration must exist. */
export async function locateCrossEncoder(source: CrossEncoderSource): Promise<CrossEncoderFiles | undefined> {
  const { model, cacheDir } = source;
  if (HUB_NAME.test(model)) return filesAt(join(cacheDir, model), model);
  if (!isAbsolute(model)) {
    throw invalid(
      "rerank_model",
      `rerank_model = "${model}" is neither a whole path nor a name on the hub such as "owner/model"; write one of them.`,
    );
  }
  const found = await filesAt(model, crossEncoderName(model));
  if (found) return found;
  throw unavailable(
    `There is no cross-encoder at ${model}: put model.onnx and ${TOKENIZER} side by side into a folder and set rerank_model to it.`,
  );
}

const urls = (model: string, hubUrl = new URL(HUB_URL).origin) => ({
  tokenizer: `${hubUrl}/${model}/resolve/main/${TOKENIZER}`,
  weights: `${hubUrl}/${model}/resolve/main/${HUB_WEIGHTS}`,
});

/** Says how a person can bring the files by hand. */
export function byHand(source: CrossEncoderSource, why: string): string {
  const { tokenizer, weights } = urls(source.model);
  return (
    `The reranking model ${source.model} is not on this disk (${why}). Fetch ${weights} and ${tokenizer}, put both into ` +
    `${join(source.cacheDir, source.model)} or into a folder of yours and set rerank_model = "<that folder>".`
  );
}

/**
 * Fetches a model of the hub into the cache. Files get their final names only after they have scored a pair and match the pins of
 * their name: an error page, half a file or other weights never stay behind.
 */
export async function fetchCrossEncoder(
  source: CrossEncoderSource,
  options: FetchOptions = {},
): Promise<CrossEncoderFiles> {
  const { model, cacheDir } = source;
  const { hubUrl, answerWithinMs, signal } = options;
  const url = urls(model, hubUrl);
  const folder = join(cacheDir, model);
  const final = { name: model, tokenizer: join(folder, TOKENIZER), weights: join(folder, HUB_WEIGHTS) };
  await mkdir(dirname(final.weights), { recursive: true, mode: 0o700 });
  const temp = await mkdtemp(join(folder, ".pull-"));
  const came = { name: model, tokenizer: join(temp, TOKENIZER), weights: join(temp, "model.onnx") };
  try {
    const limits = { maxBytes: MAX_BYTES, ...(answerWithinMs && { answerWithinMs }), ...(signal && { signal }) };
    await download(url.tokenizer, came.tokenizer, limits);
    await download(url.weights, came.weights, limits);
    await (await openCrossEncoder(came)).close();
    await checkCrossEncoder(source, came);
    await rename(came.tokenizer, final.tokenizer);
    await rename(came.weights, final.weights);
    return final;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof MemoryError && error.code === "integrity") throw error;
    throw unavailable(byHand(source, reason(error)), error);
  } finally {
    await rm(temp, { recursive: true, force: true });
  }
}
