import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openReranker } from "../../src/engine/adapters/reranker/lazy.ts";
import { fetchCrossEncoder, locateCrossEncoder } from "../../src/engine/adapters/reranker/model-files.ts";
import { PATIENCE } from "../support/patience.ts";
import { tinyModel, tinyVocabulary, writeTinyCrossEncoder } from "../support/tiny-cross-encoder.ts";

const HUB_NAME = "cross-encoder/tiny";
/** What the tiny model says of a question and a text that are both "tea". */
const TEA = 1 / (1 + Math.exp(-0.75));

let scratch: string;
let cacheDir: string;
const servers: Server[] = [];

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "butler-reranker-"));
  cacheDir = join(scratch, "cache");
});

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
  await rm(scratch, { recursive: true, force: true });
});

async function listen(answer: RequestListener): Promise<{ server: Server; hubUrl: string }> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { server, hubUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A hub on this machine that holds these paths. */
async function hub(held: Readonly<Record<string, Buffer>>) {
  const asked: string[] = [];
  const { hubUrl } = await listen((request, response) => {
    asked.push(request.url ?? "");
    const body = held[request.url ?? ""];
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  return { hubUrl, asked };
}

const filesInCache = async () =>
  (await readdir(cacheDir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());

const onHub = (weights: Buffer = tinyModel()) => ({
  [`/${HUB_NAME}/resolve/main/tokenizer.json`]: Buffer.from(JSON.stringify(tinyVocabulary)),
  [`/${HUB_NAME}/resolve/main/onnx/model.onnx`]: weights,
});

describe("model files", () => {
  it.each(["model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx"])(
    "are found in a folder with %s, and by that file's own name",
    async (path) => {
      const folder = await mkdtemp(join(scratch, "folder-"));
      const { weights, tokenizer } = await writeTinyCrossEncoder(folder, {}, path);
      expect(await locateCrossEncoder({ model: folder, cacheDir })).toMatchObject({ weights, tokenizer });
      expect(await locateCrossEncoder({ model: weights, cacheDir })).toMatchObject({ weights, tokenizer });
    },
  );

  it("are asked for in words when a folder lacks them", async () => {
    await writeFile(join(scratch, "model.onnx"), tinyModel());
    for (const model of [scratch, join(scratch, "model.onnx"), join(scratch, "nowhere")]) {
      await expect(locateCrossEncoder({ model, cacheDir })).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringMatching(/tokenizer\.json.*rerank_model/),
      });
    }
  });

  it.each(["tiny", "./tiny", "../up/tiny", "~/tiny", "a/b/c", "cross-encoder/..", ""])(
    "are not looked for under %j, which is neither a path nor a name",
    async (model) => {
      const looking = locateCrossEncoder({ model, cacheDir });
      await expect(looking).rejects.toMatchObject({ code: "invalid_input", field: "rerank_model" });
    },
  );

  it("come from the hub once and stay in the cache", async () => {
    const place = { model: HUB_NAME, cacheDir };
    expect(await locateCrossEncoder(place)).toBeUndefined();
    const fetched = await fetchCrossEncoder(place, await hub(onHub()));
    expect(await locateCrossEncoder(place)).toEqual(fetched);
    expect(await readFile(fetched.weights)).toEqual(tinyModel());
    expect((await filesInCache()).map(({ name }) => name).sort()).toEqual([
      "cross-encoder-pins.json",
      "model.onnx",
      "tokenizer.json",
    ]);
  });

  it("that cannot be had leave nothing behind and say what to do", async () => {
    const place = { model: HUB_NAME, cacheDir };
    for (const held of [{}, onHub(Buffer.from("<html>Sign in</html>"))]) {
      await expect(fetchCrossEncoder(place, await hub(held))).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringMatching(/model\.onnx and .*tokenizer\.json, put both into .*rerank_model = "/),
      });
      expect(await filesInCache()).toEqual([]);
    }
  });
});

describe("the bytes of a model from the hub", () => {
  const place = () => ({ model: HUB_NAME, cacheDir });
  const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
  /** Works as well, and says something else. */
  const swapped = () => tinyModel({ logits: 2 });
  const refused = { code: "integrity", message: expect.stringMatching(/other bytes.*not used.*rerank_model_sha256/s) };

  it("are the first ones for good: a hub that serves others later is refused, and nothing of it is kept", async () => {
    await fetchCrossEncoder(place(), await hub(onHub()));
    await rm(join(cacheDir, HUB_NAME), { recursive: true });
    await expect(fetchCrossEncoder(place(), await hub(onHub(swapped())))).rejects.toMatchObject(refused);
    expect(await locateCrossEncoder(place())).toBeUndefined();
    const again = await fetchCrossEncoder(place(), await hub(onHub()));
    expect(await readFile(again.weights)).toEqual(tinyModel());
  });

  it("are looked at whenever the model is loaded", async () => {
    const { weights } = await fetchCrossEncoder(place(), await hub(onHub()));
    await writeFile(weights, swapped());
    const lazy = openReranker({ ...place(), fetch: false });
    await expect(lazy.score("tea", ["tea"])).rejects.toMatchObject(refused);
    await lazy.close();
  });

  it("that were brought by hand are written down at their first use", async () => {
    const files = await writeTinyCrossEncoder(join(cacheDir, HUB_NAME));
    const first = openReranker({ ...place(), fetch: false });
    expect(await first.score("tea", ["tea"])).toHaveLength(1);
    await first.close();
    await writeFile(files.weights, swapped());
    const later = openReranker({ ...place(), fetch: false });
    await expect(later.score("tea", ["tea"])).rejects.toMatchObject(refused);
    await later.close();
  });

  it("are those of rerank_model_sha256 when it is set: it refuses others, and allows a change that is meant", async () => {
    const meant = { ...place(), sha256: sha256(swapped()) };
    const message = expect.stringMatching(/rerank_model_sha256 says .*not used/s);
    await expect(fetchCrossEncoder(meant, await hub(onHub()))).rejects.toMatchObject({ code: "integrity", message });
    await fetchCrossEncoder(place(), await hub(onHub()));
    await fetchCrossEncoder(meant, await hub(onHub(swapped())));
    // From now on the new ones are the known ones.
    const lazy = openReranker({ ...place(), fetch: false });
    expect(await lazy.score("tea", ["tea"])).toHaveLength(1);
    await lazy.close();
    const own = await writeTinyCrossEncoder(join(scratch, "own"));
    const held = openReranker({ model: own.weights, cacheDir, fetch: false, sha256: sha256(swapped()) });
    await expect(held.score("tea", ["tea"])).rejects.toMatchObject({ code: "integrity", message });
    await held.close();
  });
});

describe("a reranker that opens at its first question", () => {
  it("loads the owner's files, and only its file name is shown", async () => {
    await writeTinyCrossEncoder(join(scratch, "tiny"));
    const lazy = openReranker({ model: join(scratch, "tiny"), cacheDir, fetch: false });
    expect(lazy.name).toBe("tiny");
    expect((await lazy.score("tea", ["mill", "tea"]))[1]).toBeCloseTo(TEA, 6);
    await Promise.all([lazy.close(), lazy.close()]);
    await expect(lazy.score("tea", ["tea"])).rejects.toMatchObject({ code: "unavailable" });
  });

  it("refuses questions while it fetches, and answers them afterwards", async () => {
    const { hubUrl, asked } = await hub(onHub());
    const lazy = openReranker({ model: HUB_NAME, cacheDir, fetch: true, hubUrl });
    try {
      const message = expect.stringContaining("being fetched");
      await expect(lazy.score("tea", ["tea"])).rejects.toMatchObject({ code: "unavailable", message });
      const [score] = await vi.waitFor(() => lazy.score("tea", ["tea"]), PATIENCE);
      expect(score).toBeCloseTo(TEA, 6);
      expect(asked).toHaveLength(2);
    } finally {
      await lazy.close();
    }
  });

  it("does not ask the hub again for every question after a failure", async () => {
    const { hubUrl, asked } = await hub({});
    const lazy = openReranker({ model: HUB_NAME, cacheDir, fetch: true, hubUrl });
    try {
      await vi.waitFor(() => expect(lazy.score("tea", ["tea"])).rejects.toThrow("answered 404"), PATIENCE);
      await expect(lazy.score("tea", ["tea"])).rejects.toMatchObject({ code: "unavailable" });
      expect(asked).toHaveLength(1);
    } finally {
      await lazy.close();
    }
  });

  it("tries again when the time has come", async () => {
    const folder = join(scratch, "later");
    const lazy = openReranker({ model: folder, cacheDir, fetch: true, retryMs: 1 });
    try {
      await expect(lazy.score("tea", ["tea"])).rejects.toMatchObject({ code: "unavailable" });
      await writeTinyCrossEncoder(folder);
      expect(await vi.waitFor(() => lazy.score("tea", ["tea"]), PATIENCE)).toHaveLength(1);
    } finally {
      await lazy.close();
    }
  });

  it("fetches nothing when it may not, and says what to do", async () => {
    const { hubUrl, asked } = await hub(onHub());
    const lazy = openReranker({ model: HUB_NAME, cacheDir, fetch: false, hubUrl });
    try {
      await expect(lazy.score("tea", ["tea"])).rejects.toThrow("rerank_model");
      expect(asked).toEqual([]);
    } finally {
      await lazy.close();
    }
  });

  it("closes in the middle of a download", async () => {
    const { server, hubUrl } = await listen(() => undefined);
    const lazy = openReranker({ model: HUB_NAME, cacheDir, fetch: true, hubUrl });
    const asked = once(server, "request");
    await expect(lazy.score("tea", ["tea"])).rejects.toThrow("being fetched");
    await asked;
    await lazy.close();
    expect((await readdir(cacheDir, { recursive: true })).filter((name) => name.includes(".pull-"))).toEqual([]);
  });
});
