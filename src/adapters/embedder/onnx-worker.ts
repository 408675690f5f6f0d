import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { Tokenizer } from "@huggingface/tokenizers";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { inside, leave, type NativeGate } from "./native-gate.ts";

export interface OnnxWorkerData {
  readonly weights: string;
  readonly tokenizer: string;
  readonly dimensions: number;
  readonly threads: number;
  readonly gate: NativeGate;
}

export type ToOnnxWorker = { readonly kind: "embed"; readonly id: number; readonly text: string } | { kind: "close" };

export type FromOnnxWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "vector"; readonly id: number; readonly vector: Float32Array }
  | { readonly kind: "failed"; readonly id: number; readonly message: string };

/** What the model was trained with. The tokenizer file itself says 128 and pads; the library heeds neither. */
const MAX_PIECES = 256;
/** 256 pieces of words up to 100 letters fit in; it keeps a pasted megabyte from costing 0.3 s of tokenizing. */
const MAX_CHARACTERS = 32_768;

const port = parentPort;
if (port === null) throw new Error("this file runs as a worker thread");
const data = workerData as OnnxWorkerData;

const tokenizer = new Tokenizer(JSON.parse(readFileSync(data.tokenizer, "utf8")), {});
// With the arena on, 256-piece texts leave the process 15 MB smaller than without it (153 against 168 MB).
const session = await InferenceSession.create(data.weights, {
  intraOpNumThreads: data.threads,
  interOpNumThreads: 1,
  executionMode: "sequential",
  graphOptimizationLevel: "all",
  enableCpuMemArena: true,
});
leave(data.gate);

function pieceIds(text: string): number[] {
  const { ids } = tokenizer.encode(text.slice(0, MAX_CHARACTERS));
  if (ids.length <= MAX_PIECES) return ids;
  const separator = ids[ids.length - 1] ?? 0;
  return [...ids.slice(0, MAX_PIECES - 1), separator];
}

/** One forward pass of one text: a row of `dimensions` numbers for every word piece. */
async function tokenStates(ids: readonly number[]): Promise<Float32Array> {
  const row = (value: (index: number) => number) =>
    new Tensor(
      "int64",
      BigInt64Array.from(ids, (_, index) => BigInt(value(index))),
      [1, ids.length],
    );
  const feeds = {
    input_ids: row((index) => ids[index] ?? 0),
    attention_mask: row(() => 1),
    token_type_ids: row(() => 0),
  };
  const output = await inside(data.gate, () => session.run(feeds));
  const states = output.last_hidden_state?.data;
  if (!(states instanceof Float32Array)) throw new Error("the model gave no token states");
  if (states.length !== ids.length * data.dimensions) throw new Error("the model gave states of another width");
  return states;
}

/** Mean over all pieces (nothing is padded, so the attention mask is all ones), then length 1. */
function pool(states: Float32Array): Float32Array {
  const { dimensions } = data;
  const sums = new Float64Array(dimensions);
  for (let at = 0; at < states.length; at++) {
    const column = at % dimensions;
    sums[column] = (sums[column] ?? 0) + (states[at] ?? 0);
  }
  const norm = Math.hypot(...sums);
  return Float32Array.from(sums, (sum) => sum / norm);
}

const answer = (message: FromOnnxWorker, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

async function handle(message: ToOnnxWorker): Promise<void> {
  if (message.kind === "close") {
    await inside(data.gate, () => session.release());
    port?.close();
    return;
  }
  try {
    const vector = pool(await tokenStates(pieceIds(message.text)));
    answer({ kind: "vector", id: message.id, vector }, [vector.buffer as ArrayBuffer]);
  } catch (error) {
    answer({ kind: "failed", id: message.id, message: error instanceof Error ? error.message : String(error) });
  }
}

// In a row: the session must not be released under a text that is being embedded.
let last: Promise<void> = Promise.resolve();
port.on("message", (message: ToOnnxWorker) => {
  last = last.then(() => handle(message));
});

answer({ kind: "ready" });
