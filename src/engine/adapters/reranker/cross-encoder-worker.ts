import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { messageOf } from "../../domain/errors.ts";
import { inside, leave, type NativeGate } from "../embedder/native-gate.ts";
import type { ThreadNews } from "../threads/onnx-thread.ts";
import { type Pair, pairReader } from "./pair.ts";

export interface CrossEncoderWorkerData {
  readonly weights: string;
  readonly tokenizer: string;
  readonly threads: number;
  readonly gate: NativeGate;
}

export interface ScoreQuestion {
  readonly kind: "score";
  readonly query: string;
  readonly text: string;
}

export interface ScoreAnswer {
  readonly kind: "score";
  readonly id: number;
  readonly score: number;
}

const port = parentPort;
if (port === null) throw new Error("this file runs as a worker thread");
const data = workerData as CrossEncoderWorkerData;

const pairOf = pairReader(JSON.parse(readFileSync(data.tokenizer, "utf8")));
const session = await InferenceSession.create(data.weights, {
  intraOpNumThreads: data.threads,
  interOpNumThreads: 1,
  executionMode: "sequential",
  graphOptimizationLevel: "all",
  enableCpuMemArena: true,
});
leave(data.gate);

const sigmoid = (logit: number) => 1 / (1 + Math.exp(-logit));

/**
 * One pair a run: quantised models scale a whole batch by its largest number, so a pair's score would depend on the other pairs
 * of its batch. Softmax of two logits is the sigmoid of their difference.
 */
async function score({ ids, segments }: Pair): Promise<number> {
  const row = (values: readonly number[]) =>
    new Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length]);
  const all: Record<string, Tensor> = {
    input_ids: row(ids),
    attention_mask: row(ids.map(() => 1)),
    token_type_ids: row(segments),
  };
  const feeds = Object.fromEntries(Object.entries(all).filter(([name]) => session.inputNames.includes(name)));
  const output = await inside(data.gate, () => session.run(feeds));
  const logits = output.logits?.data;
  if (!(logits instanceof Float32Array)) throw new Error("the model gives no logits, so it is no cross-encoder");
  const [first = Number.NaN, second] = logits;
  if (logits.length > 2) throw new Error(`the model gives ${logits.length} numbers for a pair instead of one or two`);
  const result = second === undefined ? sigmoid(first) : sigmoid(second - first);
  if (Number.isNaN(result)) throw new Error("the model gives no number for this pair");
  return result;
}

const answer = (message: ThreadNews | ScoreAnswer) => port.postMessage(message);

async function handle(message: (ScoreQuestion & { readonly id: number }) | { readonly kind: "close" }): Promise<void> {
  if (message.kind === "close") {
    await inside(data.gate, () => session.release());
    port?.close();
    return;
  }
  try {
    answer({ kind: "score", id: message.id, score: await score(pairOf(message.query, message.text)) });
  } catch (error) {
    answer({ kind: "failed", id: message.id, message: messageOf(error) });
  }
}

// A model that is no cross-encoder loads too; it must fail here and not at the first question.
await score(pairOf("a question", "a text"));

// One after the other: the session must not be released while a pair is being scored.
let last: Promise<void> = Promise.resolve();
port.on("message", (message) => {
  last = last.then(() => handle(message));
});

answer({ kind: "ready" });
