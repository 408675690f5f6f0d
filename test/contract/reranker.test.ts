import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { Tokenizer } from "@huggingface/tokenizers";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CrossEncoderFiles, openCrossEncoder } from "../../src/engine/adapters/reranker/cross-encoder.ts";
import { pairReader } from "../../src/engine/adapters/reranker/pair.ts";
import type { Reranker } from "../../src/engine/adapters/reranker/port.ts";
import { PATIENT_EXIT } from "../support/slow-time.ts";
import { tinyVocabulary, WORDS, writeTinyCrossEncoder } from "../support/tiny-cross-encoder.ts";

let scratch: string;
let files: CrossEncoderFiles;
let reranker: Reranker;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "butler-reranker-"));
  files = await writeTinyCrossEncoder(join(scratch, "tiny"));
  reranker = await openCrossEncoder(files);
});

afterAll(async () => {
  await reranker?.close();
  await rm(scratch, { recursive: true, force: true });
});

const scores = async (by: Reranker, query: string, texts: readonly string[]) => [...(await by.score(query, texts))];

const sentence = fc
  .array(fc.constantFrom(...WORDS, "unheard", "."), { minLength: 1, maxLength: 12 })
  .map((words) => words.join(" "));

describe("scores", () => {
  it("are one number in 0..1 for each text, in the order given", async () => {
    const [best, half, off] = await scores(reranker, "green tea", ["Green tea!", "tea house", "the old mill"]);
    // Shared words give 0.75 each, others take 0.25 each, through the sigmoid.
    expect(best).toBeCloseTo(1 / (1 + Math.exp(-1.5)), 5);
    expect(half).toBeCloseTo(1 / (1 + Math.exp(-0.5)), 5);
    expect(off).toBeCloseTo(1 / (1 + Math.exp(0.5)), 5);
    expect(await scores(reranker, "green tea", ["the old mill", "Green tea!"])).toEqual([off, best]);
  });

  it("are the same alone, among others, in any order and at the same time", async () => {
    await fc.assert(
      fc.asyncProperty(sentence, fc.array(sentence, { minLength: 1, maxLength: 6 }), async (query, texts) => {
        const [together, backwards, ...alone] = await Promise.all([
          scores(reranker, query, texts),
          scores(reranker, query, texts.toReversed()),
          ...texts.map((text) => scores(reranker, query, [text])),
        ]);
        expect(alone.flat()).toEqual(together);
        expect(backwards.toReversed()).toEqual(together);
        for (const score of together) expect(score >= 0 && score <= 1).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  it("are the same with two threads and after opening again", async () => {
    const texts = ["tea", "old stone house", "honey bees"];
    const two = await openCrossEncoder(files, { threads: 2 });
    try {
      expect(await scores(two, "old tea house", texts)).toEqual(await scores(reranker, "old tea house", texts));
    } finally {
      await two.close();
    }
  });

  it("tell the question from the text", async () => {
    const [long] = await scores(reranker, "tea", ["green tea friday"]);
    const [short] = await scores(reranker, "green tea friday", ["tea"]);
    expect(short).toBeGreaterThan(long as number);
  });

  it("of no texts are no scores", async () => {
    expect(await reranker.score("green tea", [])).toEqual(new Float32Array());
  });

  it("exist for empty, strange and very long texts", async () => {
    const strange = [
      "",
      " \n",
      "😀🎉",
      "我喜欢喝茶",
      "a\u0000b\u200bc",
      "\ud800 lone",
      "[SEP] [MASK]",
      "x".repeat(1_000_000),
    ];
    const all = await scores(reranker, "green tea", [...strange, "stone ".repeat(100_000)]);
    expect(all).toHaveLength(9);
    for (const score of all) expect(score >= 0 && score <= 1).toBe(true);
  });

  it.each(["", " ", "\n\t  \u00a0"])("are refused for the question %j", async (query) => {
    await expect(reranker.score(query, ["tea"])).rejects.toMatchObject({ code: "invalid_input", field: "query" });
  });
});

describe("a pair", () => {
  const pairOf = pairReader(tinyVocabulary);
  const library = new Tokenizer(tinyVocabulary, {});

  it("is what the library makes of one that fits", () => {
    fc.assert(
      fc.property(sentence, sentence, (query, text) => {
        const { ids, token_type_ids } = library.encode(query, { text_pair: text, return_token_type_ids: true });
        expect(pairOf(query, text)).toEqual({ ids, segments: token_type_ids });
      }),
    );
  });

  it("keeps 64 pieces of the question and as many of the text as make 512", () => {
    const { ids, segments } = pairOf("tea ".repeat(500), "mill ".repeat(5_000));
    const [tea, mill] = ["tea", "mill"].map((word) => library.token_to_id(word));
    expect(ids).toHaveLength(512);
    expect(ids.filter((id) => id === tea)).toHaveLength(64);
    expect(ids.filter((id) => id === mill)).toHaveLength(512 - 64 - 3);
    expect(ids.at(-1)).toBe(library.token_to_id("[SEP]"));
    expect(segments.indexOf(1)).toBe(66);
    expect(pairOf("tea", "mill ".repeat(5_000)).ids).toHaveLength(512);
  });

  it("is seen by the model up to its last piece", async () => {
    const filler = "unheard ".repeat(508);
    const [inside, outside, without] = await scores(reranker, "tea", [
      `${filler.slice(8)} tea`,
      `${filler} tea`,
      filler,
    ]);
    expect(inside).toBeGreaterThan(without as number);
    expect(outside).toBe(without);
  });

  it("cannot be made when the vocabulary does not join pairs", () => {
    expect(() => pairReader({ ...tinyVocabulary, post_processor: null })).toThrow("joined");
    expect(() => pairReader({ ...tinyVocabulary, post_processor: { type: "ByteLevel" } })).toThrow("joined");
  });
});

describe("models of other shapes", () => {
  it("with two logits score by the second", async () => {
    const two = await openCrossEncoder(await writeTinyCrossEncoder(join(scratch, "two"), { logits: 2 }));
    try {
      const texts = ["green tea", "tea house", "mill"];
      const one = await scores(reranker, "green tea", texts);
      for (const [at, score] of (await scores(two, "green tea", texts)).entries()) {
        expect(score).toBeCloseTo(one[at] as number, 6);
      }
    } finally {
      await two.close();
    }
  });

  it("without segments are not given any", async () => {
    const plain = await openCrossEncoder(await writeTinyCrossEncoder(join(scratch, "plain"), { segments: false }));
    try {
      const [shared, other] = await scores(plain, "tea", ["tea", "mill"]);
      expect(shared).toBeGreaterThan(other as number);
    } finally {
      await plain.close();
    }
  });

  it.each([
    ["no logits", { output: "last_hidden_state" }],
    ["3 numbers", { logits: 3 }],
  ] as const)("that give %s are refused at opening", async (words, shape) => {
    const opening = openCrossEncoder(await writeTinyCrossEncoder(join(scratch, "odd"), shape));
    await expect(opening).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining(words) });
  });
});

describe("opening and closing", () => {
  it("refuses weights and vocabularies that are missing or broken", async () => {
    const broken = join(scratch, "broken");
    await writeFile(broken, "{");
    const nowhere = join(scratch, "nowhere");
    for (const bad of [{ weights: broken }, { tokenizer: broken }, { weights: nowhere }, { tokenizer: nowhere }]) {
      await expect(openCrossEncoder({ ...files, ...bad })).rejects.toMatchObject({ code: "unavailable" });
    }
  });

  it("closes once, rejects what waits and everything after", async () => {
    const own = await openCrossEncoder(files);
    const pending = Promise.allSettled([1, 2, 3].map(() => own.score("tea", Array(50).fill("tea house"))));
    await Promise.all([own.close(), own.close()]);
    for (const one of await pending) expect(one).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
    await own.close();
    await expect(own.score("tea", ["tea"])).rejects.toMatchObject({ code: "unavailable" });
    await expect(own.score("tea", [])).rejects.toMatchObject({ code: "unavailable" });
  });

  it("keeps the exit code of a process that ends while scoring", async () => {
    const script = `
      import { openCrossEncoder } from "./src/engine/adapters/reranker/cross-encoder.ts";
      ${PATIENT_EXIT}
      const own = await openCrossEncoder(${JSON.stringify(files)});
      own.score("tea", Array(20_000).fill("tea house ".repeat(300)));
      setTimeout(() => process.exit(7), 60);
    `;
    const args = ["--import", "tsx", "--input-type=module", "-e", script];
    const child = spawn(process.execPath, args, { cwd: fileURLToPath(new URL("../..", import.meta.url)) });
    let said = "";
    child.stderr.on("data", (chunk) => {
      said += chunk;
    });
    const [code, signal] = await once(child, "close");
    expect({ code, signal, said }).toEqual({ code: 7, signal: null, said: "" });
  });
});

describe("a worker that dies", () => {
  const workers: Worker[] = [];
  const remember = (worker: Worker) => workers.push(worker);
  let own: Reranker;

  beforeEach(async () => {
    process.on("worker", remember);
    own = await openCrossEncoder(files);
  });

  afterEach(async () => {
    process.off("worker", remember);
    await own.close();
    workers.length = 0;
  });

  it("rejects what waits, and the next question starts it again", async () => {
    const before = await scores(own, "tea", ["tea house"]);
    const pending = [1, 2].map(() => own.score("tea", ["tea", "mill", "house"]));
    // A message that the worker cannot understand is fatal to it, after the pair in hand.
    workers.at(-1)?.postMessage(null);
    for (const one of await Promise.allSettled(pending)) {
      expect(one).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
    }
    expect(await scores(own, "tea", ["tea house"])).toEqual(before);
    expect(workers).toHaveLength(2);
  });

  it("stays down when it dies again before it has served", async () => {
    await workers.at(-1)?.terminate();
    // As soon as there is one: what it is sent later it may have answered by then.
    process.once("worker", (next: Worker) => next.postMessage(null));
    const hopeless = own.score("tea", ["tea"]);
    await expect(hopeless).rejects.toMatchObject({ code: "unavailable" });
    await expect(own.score("tea", ["tea"])).rejects.toMatchObject({ code: "unavailable" });
    expect(workers).toHaveLength(2);
  });
});
