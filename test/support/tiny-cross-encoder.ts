/**
 * A real ONNX model of a few kilobytes, written field by field as the format's protobuf. With segments it scores the words
 * that question and text share, less a little for every other word of the text; without them, the words that come twice.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export const WORDS = ["tea", "green", "river", "mill", "honey", "bees", "old", "stone", "house", "friday"];
const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];
const SIZE = SPECIAL.length + WORDS.length;

export interface TinyShape {
  readonly segments?: boolean;
  /** How many numbers it gives for a pair. */
  readonly logits?: 1 | 2 | 3;
  readonly output?: string;
}

const FLOAT = 1;
const INT64 = 7;

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const number = (field: number, value: number) => Buffer.from([...varint(field * 8), ...varint(value)]);
const bytes = (field: number, value: Buffer) =>
  Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(value.length)]), value]);
const text = (field: number, value: string) => bytes(field, Buffer.from(value));
const message = (field: number, ...parts: Buffer[]) => bytes(field, Buffer.concat(parts));

type Attribute = [name: string, value: number | number[]];

function attribute([name, value]: Attribute): Buffer {
  if (typeof value === "number") return message(5, text(1, name), number(3, value), number(20, 2));
  return message(5, text(1, name), ...value.map((one) => number(8, one)), number(20, 7));
}

const node = (type: string, inputs: string[], output: string, ...attributes: Attribute[]) =>
  message(1, ...inputs.map((name) => text(1, name)), text(2, output), text(4, type), ...attributes.map(attribute));

function constant(name: string, dims: number[], values: number[], type = FLOAT): Buffer {
  const data = type === FLOAT ? Float32Array.from(values) : BigInt64Array.from(values, BigInt);
  const raw = Buffer.from(data.buffer);
  return message(5, ...dims.map((dim) => number(1, dim)), number(2, type), text(8, name), bytes(9, raw));
}

function value(field: number, name: string, type: number, dims: (string | number)[]): Buffer {
  const shape = dims.map((dim) => message(1, typeof dim === "string" ? text(2, dim) : number(1, dim)));
  return message(field, text(1, name), message(2, message(1, number(1, type), message(2, ...shape))));
}

const withSegments = [
  node("Cast", ["token_type_ids"], "segment", ["to", FLOAT]),
  node("Unsqueeze", ["segment", "last"], "of_text"),
  node("Sub", ["one", "of_text"], "of_question"),
  node("Mul", ["words", "of_text"], "text_words"),
  node("Mul", ["words", "of_question"], "question_words"),
  node("ReduceMax", ["text_words"], "text_bag", ["axes", [1]], ["keepdims", 0]),
  node("ReduceMax", ["question_words"], "question_bag", ["axes", [1]], ["keepdims", 0]),
  node("Sub", ["question_bag", "penalty"], "gain"),
  node("Mul", ["gain", "text_bag"], "features"),
];

const withoutSegments = [
  node("ReduceSum", ["words", "pieces"], "counts", ["keepdims", 0]),
  node("Mul", ["counts", "counts"], "features"),
];

export function tinyModel(shape: TinyShape = {}): Buffer {
  const { segments = true, logits = 1, output = "logits" } = shape;
  const rows = Array.from({ length: SIZE * SIZE }, (_, at) =>
    at % (SIZE + 1) === 0 && at >= SPECIAL.length * SIZE ? 1 : 0,
  );
  // The last column counts the features; the others are nothing, so softmax of two is the sigmoid of one.
  const head = Array.from({ length: SIZE * logits }, (_, at) => ((at + 1) % logits === 0 ? 1 : 0));
  const inputs = ["input_ids", "attention_mask", ...(segments ? ["token_type_ids"] : [])];
  const graph = message(
    7,
    node("Gather", ["table", "input_ids"], "rows"),
    node("Cast", ["attention_mask"], "mask", ["to", FLOAT]),
    node("Unsqueeze", ["mask", "last"], "seen"),
    node("Mul", ["rows", "seen"], "words"),
    ...(segments ? withSegments : withoutSegments),
    node("MatMul", ["features", "head"], output),
    text(2, "tiny"),
    constant("table", [SIZE, SIZE], rows),
    constant("head", [SIZE, logits], head),
    constant("last", [1], [2], INT64),
    ...(segments
      ? [constant("one", [1], [1]), constant("penalty", [1], [0.25])]
      : [constant("pieces", [1], [1], INT64)]),
    ...inputs.map((name) => value(11, name, INT64, ["batch", "length"])),
    value(12, output, FLOAT, ["batch", logits]),
  );
  return Buffer.concat([number(1, 8), graph, message(8, number(2, 13))]);
}

const special = (id: string, type_id: number) => ({ SpecialToken: { id, type_id } });
const sequence = (id: "A" | "B", type_id: number) => ({ Sequence: { id, type_id } });

export const tinyVocabulary = {
  version: "1.0",
  added_tokens: SPECIAL.map((content, id) => ({ id, content, special: true, normalized: false })),
  normalizer: {
    type: "BertNormalizer",
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: "BertPreTokenizer" },
  post_processor: {
    type: "TemplateProcessing",
    single: [special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0)],
    pair: [special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0), sequence("B", 1), special("[SEP]", 1)],
  },
  decoder: null,
  model: {
    type: "WordPiece",
    unk_token: "[UNK]",
    continuing_subword_prefix: "##",
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries([...SPECIAL, ...WORDS].map((word, id) => [word, id])),
  },
};

/** Writes the pair of files as a folder has them, and says where they are. */
export async function writeTinyCrossEncoder(folder: string, shape: TinyShape = {}, weightsPath = "model.onnx") {
  const weights = join(folder, weightsPath);
  const tokenizer = join(folder, "tokenizer.json");
  await mkdir(dirname(weights), { recursive: true });
  await writeFile(weights, tinyModel(shape));
  await writeFile(tokenizer, JSON.stringify(tinyVocabulary));
  return { name: "tiny", weights, tokenizer };
}
