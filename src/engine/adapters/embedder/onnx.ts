import { lruCache } from "../../domain/collections/lru-cache.ts";
import { invalid, unavailable } from "../../domain/errors.ts";
import { alone } from "../../domain/text/remembered.ts";
import { type Log, silentLog } from "../log.ts";
import type { ModelFiles } from "../model/files.ts";
import { openOnnxThread } from "../threads/onnx-thread.ts";
import { startProcess, startWorker } from "../threads/worker.ts";
import type { FromOnnxWorker, OnnxWorkerData, ToOnnxWorker } from "./onnx-worker.ts";
import type { Embedder, Embedding } from "./port.ts";
import { helped } from "./second-thread.ts";

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
  /**
   * In a process of its own instead of a thread: all memory is given back when the embedder is closed. After a thread the library (21 MB)
   * and what it leaves in the heap (about 20 MB) stay for as long as the process.
   */
  readonly apart?: boolean;
  readonly log?: Log;
}

type EmbedQuestion = Omit<Extract<ToOnnxWorker, { kind: "embed" }>, "id">;
type EmbeddingAnswer = Extract<FromOnnxWorker, { kind: "embedding" }>;

/** The second thread mostly has texts of writes, and queries are waited for: with both alike a context took half as long again at p95 under load. */
const BEHIND = 10;

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
      if (text.length <= CACHED_QUERY_CHARACTERS) known.set(alone(text), copyOf(embedding));
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
  const { threads = 1, apart = false, log = silentLog } = options;
  const cache = queryCache();
  const open = (behind: number) =>
    openOnnxThread<EmbedQuestion, EmbeddingAnswer>({
      name: "embedding",
      log,
      apart,
      start: (gate) => {
        const { weights, tokenizer, version } = files;
        const data: OnnxWorkerData = { weights, tokenizer, dimensions: version.dimensions, threads, behind };
        if (apart) return startProcess(import.meta.url, "onnx-worker", data);
        return startWorker(import.meta.url, "onnx-worker", { ...data, gate });
      },
    });
  const thread = await open(0);
  const both = helped(thread, () => open(BEHIND), log);

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
      const { vector, tokens } = await both.ask({ kind: "embed", text }, priority);
      if (priority === "query") cache.set(text, { vector, tokens });
      return { vector, tokens };
    },
    close: () => both.close(),
  };
}
