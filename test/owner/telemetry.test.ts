/** The library that runs the models reports to its maker unless it is told not to: nothing of that may come to this disk or leave this machine. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { testModel } from "../support/model.ts";
import { agent, canListProcesses, childrenOf, cleanUp, ownerNote, seededHome } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { type Sockets, socketsOf } from "../support/sockets.ts";
import { writeTinyCrossEncoder } from "../support/tiny-cross-encoder.ts";

const dist = (path: string) => fileURLToPath(new URL(`../../dist/${path}`, import.meta.url));

let user = "";
beforeEach(() => {
  user = mkdtempSync(join(tmpdir(), "user-"));
});
afterEach(() => rmSync(user, { recursive: true, force: true, maxRetries: 5 }));
afterAll(cleanUp);

/** The folders in which a library would look for a place of its own, all empty. */
const variables = () => ({
  HOME: join(user, "home"),
  XDG_CACHE_HOME: join(user, "cache"),
  XDG_CONFIG_HOME: join(user, "config"),
  XDG_DATA_HOME: join(user, "data"),
  XDG_STATE_HOME: join(user, "state"),
  TMPDIR: join(user, "tmp"),
});

const filesOfUser = () => readdirSync(user, { recursive: true });

/** Runs a module's text in a process of its own; `look` sees it while it waits after its work. */
async function inProcess(source: string, look: (pid: number) => void): Promise<string> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", `${source}\nprocess.stdin.resume();`], {
    env: { PATH: process.env.PATH, ...variables() },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  await Promise.race([once(child.stdout, "data"), ended]);
  if (child.exitCode === null) look(child.pid ?? 0);
  child.stdin.end();
  expect(await ended).toEqual([0, null]);
  return said;
}

const none = { network: [], unix: [], others: 0 };

const models = async () => {
  const { version, weights, tokenizer } = await testModel();
  return { embedding: { version, weights, tokenizer }, tiny: await writeTinyCrossEncoder(join(user, "tiny")) };
};

test.skipIf(!canListProcesses)("neither model writes a file of its own or opens a socket", async () => {
  const { embedding, tiny } = await models();
  const before = filesOfUser();
  let seen: Sockets | undefined;
  const said = await inProcess(
    `import { openOnnxEmbedder } from ${JSON.stringify(dist("engine/adapters/embedder/onnx.js"))};
     import { openCrossEncoder } from ${JSON.stringify(dist("engine/adapters/reranker/cross-encoder.js"))};
     const embedder = await openOnnxEmbedder(${JSON.stringify(embedding)});
     const { vector } = await embedder.embed("green tea", "query");
     const reranker = await openCrossEncoder(${JSON.stringify(tiny)});
     const [score] = await reranker.score("green tea", ["Green tea!"]);
     process.stdin.once("end", () => Promise.all([embedder.close(), reranker.close()]));
     console.log(vector.length, score > 0.5);`,
    (pid) => {
      seen = socketsOf(pid);
    },
  );
  expect(said).toBe("384 true\n");
  expect(filesOfUser()).toEqual(before);
  expect(seen).toEqual(none);
});

test("a thread that cannot reach the environment of its process refuses to load a model", async () => {
  const { embedding } = await models();
  const before = filesOfUser();
  const thread = `
    import(${JSON.stringify(dist("engine/adapters/embedder/onnx.js"))})
      .then(({ openOnnxEmbedder }) => openOnnxEmbedder(${JSON.stringify(embedding)}))
      .then((embedder) => embedder.embed("green tea", "query").then(({ vector }) => embedder.close().then(() => vector.length)))
      .then((length) => console.log(length), (error) => console.log(error.code, error.message));`;
  const run = (first: string) =>
    inProcess(
      `import { Worker } from "node:worker_threads"; ${first}
       new Worker(${JSON.stringify(thread)}, { eval: true });`,
      () => undefined,
    );
  expect(await run("")).toMatch(/^unavailable .*ORT_DISABLE_TELEMETRY=1/);
  expect(await run('process.env.ORT_DISABLE_TELEMETRY = "1";')).toBe("384\n");
  expect(filesOfUser()).toEqual(before);
});

test.skipIf(!canListProcesses)("an owner that embeds has no file and no socket but its own", async () => {
  const home = await seededHome();
  const client = await agent(home, variables());
  await client.call("memory_store_episode", { content: "Ada planted an apple tree" });
  // Until the model is loaded an answer says that it is by keywords only.
  await vi.waitFor(
    async () => expect((await client.call("memory_search", { query: "fruit in the garden" })).degraded).toBeUndefined(),
    PATIENCE.timeout,
  );
  const { pid = 0, address } = ownerNote(home) ?? {};
  const { network, unix, others } = socketsOf(pid);
  expect(address).toBeNull();
  expect(network).toEqual([]);
  expect(unix.filter((path) => !path.startsWith(home) && !/^@butler/.test(path))).toEqual([]);
  // The pair between the owner and the model's process, which not every kernel lists.
  expect(others).toBeLessThanOrEqual(1);
  const models = childrenOf(pid);
  expect(models).toHaveLength(1);
  for (const model of models) {
    const seen = socketsOf(model);
    expect(seen).toMatchObject({ network: [], unix: [] });
    expect(seen.others).toBeLessThanOrEqual(1);
  }
  expect(filesOfUser()).toEqual([]);
  await client.close();
});
