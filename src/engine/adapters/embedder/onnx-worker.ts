import { readFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { messageOf } from "../../domain/errors.ts";
import { keptPieces, signBits, wholeWords } from "../../domain/ranking/token-bits.ts";
import { parent } from "../threads/parent.ts";
import { stepBehind } from "../threads/thread-priority.ts";
import { inside, leave, type NativeGate } from "./native-gate.ts";
import type { Embedding, TokenBits } from "./port.ts";
import { TOKEN_MEAN } from "./token-mean.ts";

export interface OnnxWorkerData {
  readonly weights: string;
  readonly tokenizer: string;
  readonly dimensions: number;
  readonly threads: number;
  /** How far it stands behind others where cores are short, in steps of "nice". */
  readonly behind: number;
  /** Absent in a process of its own. */
  readonly gate?: NativeGate;
}

export type ToOnnxWorker = { readonly kind: "embed"; readonly id: number; readonly text: string } | { kind: "close" };

export type FromOnnxWorker =
  | { readonly kind: "ready" }
  | ({ readonly kind: "embedding"; readonly id: number } & Embedding)
  | { readonly kind: "failed"; readonly id: number; readonly message: string };

/** What the model was trained with. The tokenizer file itself says 128 and pads; the library heeds neither. */
const MAX_PIECES = 256;
/** 256 pieces of words of up to 100 letters fit in. Without this limit a pasted megabyte takes 0.3 s to tokenize. */
const MAX_CHARACTERS = 32_768;
/**
 * After so many texts a process of its own collects its garbage. Most of that are token states, 40 KB of each text outside of the heap, which V8
 * lets lie until the heap has grown by 8 MB: under load the process went from 119 to 151 MB in the first 12,000 episodes, and stays within 5 MB now.
 */
const COLLECT_AFTER = 1_024;

const port = parent();
const data = port.data as OnnxWorkerData;
if (TOKEN_MEAN.length !== data.dimensions)
  throw new Error("the mean of token states is of another width than the model");

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
stepBehind(data.behind);

interface Read {
  /** Word pieces of the whole text, without the two marks around it. */
  readonly total: number;
  /** What the model sees of it, the marks included. */
  readonly ids: readonly number[];
  /** The pieces between the marks. */
  readonly pieces: readonly string[];
}

function read(text: string): Read {
  const { ids, tokens } = tokenizer.encode(text.slice(0, MAX_CHARACTERS));
  const seen = Math.min(ids.length, MAX_PIECES) - 1;
  return {
    total: ids.length - 2,
    ids: [...ids.slice(0, seen), ids[ids.length - 1] ?? 0],
    pieces: tokens.slice(1, seen),
  };
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
  for (let row = 0; row < states.length; row += dimensions)
    for (let column = 0; column < dimensions; column++)
      sums[column] = (sums[column] as number) + (states[row + column] as number);
  const norm = Math.hypot(...sums);
  const vector = new Float32Array(dimensions);
  for (let column = 0; column < dimensions; column++) vector[column] = (sums[column] as number) / norm;
  return vector;
}

function tokenBits({ total, ids, pieces }: Read, states: Float32Array): TokenBits {
  const words = wholeWords(pieces);
  const kept = keptPieces(pieces);
  return {
    pieces: total,
    // The states begin with that of the first mark.
    bits: signBits(states.subarray(data.dimensions), TOKEN_MEAN, kept),
    words: kept.map((at) => words[at] ?? ""),
    ranks: kept.map((at) => ids[at + 1] ?? 0),
  };
}

const answer = (message: FromOnnxWorker, transfer: ArrayBuffer[] = []) => port.post(message, transfer);

async function handle(message: ToOnnxWorker): Promise<void> {
  if (message.kind === "close") {
    await inside(data.gate, () => session.release());
    port.close();
    return;
  }
  try {
    const text = read(message.text);
    const states = await tokenStates(text.ids);
    const vector = pool(states);
    const tokens = tokenBits(text, states);
    const transfer = [vector.buffer, tokens.bits.buffer] as ArrayBuffer[];
    answer({ kind: "embedding", id: message.id, vector, tokens }, transfer);
  } catch (error) {
    answer({ kind: "failed", id: message.id, message: messageOf(error) });
  }
}

let embedded = 0;

/** The answer is on its way by then. In a thread of another process there is no such function. */
function collectNowAndThen(): void {
  embedded += 1;
  if (embedded % COLLECT_AFTER === 0) globalThis.gc?.();
}

// One after the other: the session must not be released while a text is being embedded.
let last: Promise<void> = Promise.resolve();
port.onMessage((message: ToOnnxWorker) => {
  last = last.then(() => handle(message)).then(collectNowAndThen);
});

answer({ kind: "ready" });
