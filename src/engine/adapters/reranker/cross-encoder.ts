import { invalid, unavailable } from "../../domain/errors.ts";
import { type Log, silentLog } from "../log.ts";
import { openOnnxThread } from "../threads/onnx-thread.ts";
import { startWorker } from "../threads/worker.ts";
import type { CrossEncoderWorkerData, ScoreAnswer, ScoreQuestion } from "./cross-encoder-worker.ts";
import type { Reranker } from "./port.ts";

export interface CrossEncoderFiles {
  readonly name: string;
  readonly weights: string;
  readonly tokenizer: string;
}

export interface CrossEncoderOptions {
  readonly threads?: number;
  readonly log?: Log;
}

/** A BERT-like sequence classifier. Resolves when it has scored a first pair; rejects with `unavailable` when it cannot. */
export async function openCrossEncoder(files: CrossEncoderFiles, options: CrossEncoderOptions = {}): Promise<Reranker> {
  const { threads = 1, log = silentLog } = options;
  const { name, weights, tokenizer } = files;
  const thread = await openOnnxThread<ScoreQuestion, ScoreAnswer>({
    name: "reranking",
    log,
    start: (gate) => {
      const workerData: CrossEncoderWorkerData = { weights, tokenizer, threads, gate };
      return startWorker(import.meta.url, "cross-encoder-worker", workerData);
    },
  });

  return {
    name,
    async score(query, texts) {
      if (query.trim() === "") throw invalid("query", "There is no question to rank by.");
      if (thread.closed) throw unavailable("The reranker is closed.");
      // One message a text, so that closing waits for one pair and not for the whole list.
      const answers = await Promise.all(texts.map((text) => thread.ask({ kind: "score", query, text }, "query")));
      return Float32Array.from(answers, ({ score }) => score);
    },
    close: () => thread.close(),
  };
}
