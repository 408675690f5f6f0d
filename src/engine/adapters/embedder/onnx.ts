import { invalid, unavailable } from "../../domain/errors.ts";
import { lruCache } from "../../domain/lru-cache.ts";
import { type Log, silentLog } from "../log.ts";
import type { ModelFiles } from "../model/files.ts";
import { openOnnxThread } from "../threads/onnx-thread.ts";
import { startWorker } from "../threads/worker.ts";
import type { FromOnnxWorker, OnnxWorkerData, ToOnnxWorker } from "./onnx-worker.ts";
import type { Embedder, Embedding } from "./port.ts";

export interface OnnxEmbedder extends Embedder {
  /** False between the death of the worker and the end of its restart, and after `close()`. */
  readonly ready: boolean;
}

export interface OnnxOptions {
  /**
   * Threads of one inference; the vectors are the same bytes. Measured on two cores, 132 tokens, int8: on an idle machine two
   * threads take 7.4 ms instead of 12, but with other work on the cores they burn 28 to 34 ms of CPU instead of 13 to 15.
   */
  readonly threads?: number;
  readonly log?: Log;
}

type EmbedQuestion = Omit<Extract<ToOnnxWorker, { kind: "embed" }>, "id">;
type EmbeddingAnswer = Extract<FromOnnxWorker, { kind: "embedding" }>;

const CACHED_QUERIES = 256;
const CACHED_QUERY_CHARACTERS = 2_000;

/** Recent query texts and what the model gave for them. */
function queryCache() {
  const known = lruCache<string, Embedding>(CACHED_QUERIES);
  return {
    get(text: string): Embedding | undefined {
      const embedding = known.get(text);
      return embedding && copyOf(embedding);
    },
    set(text: string, embedding: Embedding) {
      if (text.length <= CACHED_QUERY_CHARACTERS) known.set(text, copyOf(embedding));
    },
  };
}

/** Copies what a caller could write into: typed arrays have no readonly form. */
const copyOf = ({ vector, tokens }: Embedding): Embedding => ({
  vector: vector.slice(),
  tokens: { ...tokens, bits: tokens.bits.slice() },
});

/** Resolves when the model is loaded. Rejects with `unavailable` when it cannot be. */
export async function openOnnxEmbedder(files: ModelFiles, options: OnnxOptions = {}): Promise<OnnxEmbedder> {
  const { threads = 1, log = silentLog } = options;
  const cache = queryCache();
  const thread = await openOnnxThread<EmbedQuestion, EmbeddingAnswer>({
    name: "embedding",
    log,
    start: (gate) => {
      const { weights, tokenizer, version } = files;
      const workerData: OnnxWorkerData = { weights, tokenizer, dimensions: version.dimensions, threads, gate };
      return startWorker(import.meta.url, "onnx-worker", workerData);
    },
  });

  return {
    version: files.version,
    get ready() {
      return thread.ready;
    },
    async embed(text, priority) {
      if (text.trim() === "") throw invalid("text", "There is no text to embed.");
      if (thread.closed) throw unavailable("The embedder is closed.");
      const known = cache.get(text);
      if (known !== undefined) return known;
      const { vector, tokens } = await thread.ask({ kind: "embed", text }, priority);
      if (priority === "query") cache.set(text, { vector, tokens });
      return { vector, tokens };
    },
    close: () => thread.close(),
  };
}
