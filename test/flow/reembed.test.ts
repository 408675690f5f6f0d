import { describe, expect, test } from "vitest";
import type { Db, Sql } from "../../src/engine/adapters/db/port.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import { uuidv7Source } from "../../src/engine/adapters/ids.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import type { JobContext } from "../../src/engine/memory/keep/job.ts";
import { maintain } from "../../src/engine/memory/keep/maintain.ts";
import { reembed } from "../../src/engine/memory/keep/reembed.ts";
import { type OpenMemory, openMemory } from "../../src/engine/memory/open.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { handOver, readVersions } from "../../src/engine/store/index/reembed.ts";
import { indexState } from "../../src/engine/store/index/vector-index.ts";
import { callTool } from "../../src/engine/tools/call.ts";
import { type HashEmbedder, hashEmbedder } from "../support/hash-embedder.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const THINGS = ["kettle", "bicycle", "violin", "lantern", "ladder", "compass", "anchor", "teapot", "hammer", "basket"];
const sentence = (i: number) => `The ${THINGS[i % 10]} number ${["one", "two", "three", "four", "five"][i % 5]} w${i}w`;
const COUNT = 45;

/** A store whose process ends before its nth statement; a transaction that is open then is rolled back. */
function dying(db: Db, statements: number): Db {
  let left = statements;
  const alive = (sql: Sql): Sql => ({
    query: async (text, params) => {
      if (left-- <= 0) throw new Error("killed");
      return sql.query(text, params);
    },
  });
  return wrapDb(db, (inner) => ({ ...alive(inner), tx: (work) => inner.tx((sql) => work(alive(sql))) }));
}

onEachStore("re-embedding", (open) => {
  /** A store whose memories were embedded by model a. */
  async function furnished(): Promise<{ rig: Rig; a: HashEmbedder; texts: string[]; version: number }> {
    const rig = await open({ model: false });
    const a = hashEmbedder("a");
    await rig.memory.adopt(a);
    const texts = Array.from({ length: COUNT }, (_, i) => sentence(i));
    await rig.call("memory_ingest_batch", {
      episodes: texts.map((content) => ({ content, butler: "general" })),
    });
    await rig.settled();
    return { rig, a, texts, version: rig.memory.embeddingVersion ?? -1 };
  }

  /** The same store as a process with another model sees it. */
  async function reopened(rig: Rig, embedder: HashEmbedder, previous?: HashEmbedder, settings: unknown = {}) {
    const memory = await openMemory({
      butler: "general",
      role: "butler",
      db: rig.db,
      clock: rig.memory.clock,
      ids: uuidv7Source(),
      embedder,
      tokenizer: rig.memory.tokenizer,
      settings: Settings.parse(settings),
      log: silentLog,
      previous: async (version) => (version.sha256 === previous?.version.sha256 ? previous : undefined),
    });
    return { memory, ...doors(memory) };
  }

  function doors(memory: OpenMemory) {
    const call = async (tool: string, input: unknown) => {
      const identity = { name: "test", tenant: "default", butler: "*", admin: false, voice: "user" } as const;
      const outcome = await callTool(memory, identity, { tool, input });
      if (!outcome.ok) throw new Error(outcome.error.message);
      // biome-ignore lint/suspicious/noExplicitAny: looked at field by field.
      return outcome.answer as Record<string, any>;
    };
    /** Which of the texts are the best answer to themselves, by meaning alone. */
    const found = async (texts: readonly string[]) => {
      const seen: string[] = [];
      let degraded: string | undefined;
      for (const query of texts) {
        const answer = await call("memory_search", { query, mode: "semantic", limit: 1 });
        if (answer.results[0]?.content === query && answer.results[0].relevance > 0.99) seen.push(query);
        degraded ??= answer.degraded;
      }
      await memory.afterwards.settled();
      return { missed: texts.filter((text) => !seen.includes(text)), degraded };
    };
    const run = (more: Partial<JobContext> = {}) =>
      reembed.run({ memory, now: memory.clock.now(), dryRun: false, interrupted: () => false, ...more });
    return { call, found, run };
  }

  const states = async (rig: Rig) => (await readVersions(rig.db)).map(({ state }) => state);
  const vectors = async (rig: Rig) =>
    Object.fromEntries(
      (
        await rig.db.query<{ v: number; n: number }>(
          "select version_id as v, count(*)::int4 as n from embeddings group by 1 order by 1",
        )
      ).map(({ v, n }) => [v, n]),
    );
  /** Interrupts before the nth step. */
  const stopAfter = (steps: number) => {
    let left = steps;
    return () => left-- <= 0;
  };

  describe("from one model to another", () => {
    test("every search finds everything before, half-way and after; what is written meanwhile has both", async () => {
      const { rig, a, texts, version } = await furnished();
      const b = hashEmbedder("b");
      const next = await reopened(rig, b, a, { retrieval: { vector_index: "ivfflat" } });
      const own = next.memory.versions.own?.version ?? -1;
      expect(await states(rig)).toEqual(["serving", "building"]);
      expect(next.memory.embeddingVersion).toBe(version);
      expect(await next.found(texts)).toEqual({ missed: [], degraded: undefined });

      const half = await next.run({ interrupted: stopAfter(2) });
      expect(half).toMatchObject({ complete: false, counts: { embedded: 32 } });
      expect(await states(rig)).toEqual(["serving", "building"]);
      await next.call("memory_store_episode", { content: "A parrot came w99w", butler: "general" });
      texts.push("A parrot came w99w");
      expect(await vectors(rig)).toEqual({ [version]: COUNT + 1, [own]: 33 });
      expect(await next.found(texts)).toEqual({ missed: [], degraded: undefined });

      const rest = await next.run();
      expect(rest).toMatchObject({ complete: true, counts: { embedded: COUNT - 32, dropped: COUNT + 1 } });
      expect(await states(rig)).toEqual(["retired", "serving"]);
      expect(await vectors(rig)).toEqual({ [own]: COUNT + 1 });
      expect(await indexState(rig.db, own)).toEqual({ kind: "ivfflat", rows: COUNT + 1, builtAt: COUNT + 1 });
      expect(await next.found(texts)).toEqual({ missed: [], degraded: undefined });

      expect(await next.run()).toEqual({ changed: 0, counts: {}, notes: [], complete: true });
      expect(a.closed).toBe(true);
    });

    test("searches that run beside the rebuild never miss a memory, nor compare two versions", async () => {
      const { rig, a, texts } = await furnished();
      const next = await reopened(rig, hashEmbedder("b"), a);
      let done = false;
      const job = next.run().finally(() => {
        done = true;
      });
      const rounds: unknown[] = [];
      do rounds.push(await next.found(texts.slice(0, 12)));
      while (!done);
      await job;
      rounds.push(await next.found(texts));
      expect(rounds.filter((round) => JSON.stringify(round) !== JSON.stringify({ missed: [] }))).toEqual([]);
    });

    test("a search that was under way at the change is asked again", async () => {
      const { rig, a, texts } = await furnished();
      const next = await reopened(rig, hashEmbedder("b"), a);
      let jobs = 0;
      a.before = async () => {
        if (jobs++ === 0) await next.run();
      };
      expect(await next.found([texts[7] as string])).toEqual({ missed: [], degraded: undefined });
      expect(jobs).toBe(1);
      expect(await states(rig)).toEqual(["retired", "serving"]);
    });

    test("stopped before the change, then between the change and the cleaning: the next run ends it", async () => {
      const { rig, a, texts, version } = await furnished();
      const b = hashEmbedder("b");
      const first = await reopened(rig, b, a);
      const own = first.memory.versions.own?.version ?? -1;
      await first.run({ interrupted: stopAfter(2) });
      expect(await handOver(rig.db, own, version, rig.now)).toBe(false);
      expect((await first.run({ interrupted: stopAfter(2) })).complete).toBe(false);
      expect(await states(rig)).toEqual(["serving", "building"]);
      expect((await first.run({ interrupted: stopAfter(3) })).complete).toBe(false);
      expect(await states(rig)).toEqual(["retired", "serving"]);
      expect(await vectors(rig)).toEqual({ [version]: COUNT, [own]: COUNT });

      const second = await reopened(rig, b);
      expect(second.memory.embeddingVersion).toBe(own);
      expect(await second.found(texts)).toEqual({ missed: [], degraded: undefined });
      expect(await vectors(rig)).toEqual({ [version]: COUNT, [own]: COUNT });
      expect(await second.run()).toMatchObject({ complete: true, counts: { dropped: COUNT } });
      expect(await vectors(rig)).toEqual({ [own]: COUNT });
      expect((await second.run()).changed).toBe(0);
    });

    test("dies at any statement and runs again: the same end as without", async () => {
      const { rig, a, texts, version } = await furnished();
      const b = hashEmbedder("b");
      let deaths = 0;
      for (let statements = 1; ; statements++) {
        const db = dying(rig.db, statements);
        try {
          await (await reopened({ ...rig, db }, b, a)).run();
          break;
        } catch (error) {
          expect(String(error)).toContain("killed");
          deaths++;
          const probe = await reopened(rig, b, a);
          expect(await probe.found(texts.slice(0, 5))).toEqual({ missed: [], degraded: undefined });
        }
      }
      expect(deaths).toBeGreaterThan(5);
      expect(await states(rig)).toEqual(["retired", "serving"]);
      expect(Object.entries(await vectors(rig))).toEqual([[String(version + 1), COUNT]]);
      const last = await reopened(rig, b, a);
      expect(await last.found(texts)).toEqual({ missed: [], degraded: undefined });
      expect((await last.run()).changed).toBe(0);
    });

    test("without the old model the answer says how far it is, and upkeep carries it on", async () => {
      const { rig, texts } = await furnished();
      const b = hashEmbedder("b");
      const next = await reopened(rig, b);
      expect((await next.found(texts.slice(0, 1))).degraded).toMatch(/^embeddings 0 % rebuilt/);
      const keywords = await next.call("memory_search", { query: "w7w", mode: "hybrid" });
      expect(keywords.results[0].content).toBe(texts[7]);
      await next.run({ interrupted: stopAfter(1) });
      const answer = await next.call("memory_search", { query: texts[0], mode: "hybrid" });
      expect(answer.degraded).toMatch(/^embeddings 0 % rebuilt/);
      await next.memory.versions.refresh();
      expect((await next.found(texts.slice(0, 1))).degraded).toMatch(/^embeddings 71 % rebuilt/);
      await maintain(next.memory, { level: "light" });
      expect(await next.found(texts)).toEqual({ missed: [], degraded: undefined });
      expect(await states(rig)).toEqual(["retired", "serving"]);
    });

    test("what is out of sight keeps a vector, so that it can be restored; the end of its visibility is copied", async () => {
      const { rig, a } = await furnished();
      const fact = { subject: "Ada", predicate: "plays", content: "the harp", permanence: "volatile" };
      const { id } = await rig.call("memory_store_fact", fact);
      const { id: gone } = await rig.call("memory_store_fact", { ...fact, predicate: "sings", content: "alto" });
      await rig.call("memory_forget", { type: "fact", id: gone });
      const next = await reopened(rig, hashEmbedder("b"), a);
      const until = () =>
        rig.db.query("select memory_id, visible_until from embeddings where memory_id = any($1) order by 1", [
          [id, gone],
        ]);
      const before = await until();
      await next.run();
      expect(before).toHaveLength(2);
      expect(await until()).toEqual(before);
      await next.call("memory_restore", { type: "fact", id: gone });
      const answer = await next.call("memory_search", { query: "Ada sings: alto", mode: "semantic", limit: 1 });
      expect(answer.results[0]).toMatchObject({ id: gone });
    });

    test("a model that fails stops the job and loses nothing", async () => {
      const { rig, a, texts } = await furnished();
      const b = hashEmbedder("b");
      const next = await reopened(rig, b, a);
      b.before = (text) => {
        if (text === texts[40]) throw new Error("out of memory");
      };
      await expect(next.run()).rejects.toThrow("out of memory");
      expect(await next.found(texts)).toEqual({ missed: [], degraded: undefined });
      b.before = () => undefined;
      expect(await next.run()).toMatchObject({ complete: true });
      expect(await next.found(texts)).toEqual({ missed: [], degraded: undefined });
    });

    test("a dry run counts and changes nothing", async () => {
      const { rig, a, version } = await furnished();
      const next = await reopened(rig, hashEmbedder("b"), a);
      expect(await next.run({ dryRun: true })).toMatchObject({ changed: COUNT, counts: { embedded: COUNT } });
      expect(await vectors(rig)).toEqual({ [version]: COUNT });
      expect(await states(rig)).toEqual(["serving", "building"]);
    });
  });

  describe("vectors from before token bits were kept", () => {
    const bare = async (rig: Rig) =>
      (await rig.db.query<{ n: number }>("select count(*)::int4 as n from embeddings where tokens is null"))[0]?.n;
    const strip = (rig: Rig, most: number) =>
      rig.db.query(
        `update embeddings set tokens = null, word_pieces = null where memory_id in (
           select memory_id from embeddings order by memory_id limit $1)`,
        [most],
      );
    const whole = (rig: Rig) =>
      rig.db.query(
        "select memory_id, sk, visible_until, embedding::text, word_pieces, tokens from embeddings order by 1",
      );

    test("get them, and stay on their shelf for as long as they were visible", async () => {
      const { rig, a, texts, version } = await furnished();
      const { id } = await rig.call("memory_store_fact", { subject: "Ada", predicate: "plays", content: "the harp" });
      await rig.db.query("update embeddings set visible_until = '2026-07-01' where memory_id = $1", [id]);
      const before = await whole(rig);
      const again = await reopened(rig, a);
      expect((await again.run()).changed).toBe(0);
      await strip(rig, 40);
      expect(await again.found(texts)).toEqual({ missed: [], degraded: undefined });

      expect(await again.run({ dryRun: true })).toMatchObject({ changed: 40, counts: { embedded: 40 } });
      expect(await again.run({ interrupted: stopAfter(1) })).toMatchObject({ complete: false, changed: 32 });
      expect(await bare(rig)).toBe(8);
      expect(await again.run()).toMatchObject({ complete: true, changed: 8 });
      expect(await whole(rig)).toEqual(before);
      expect(await vectors(rig)).toEqual({ [version]: COUNT + 1 });
      expect((await again.run()).changed).toBe(0);
    });

    test("get them in upkeep, and names of the session are left out of what is embedded", async () => {
      const { rig, a } = await furnished();
      await rig.call("memory_store_episode", { content: "Ada saw a heron", session_id: "s", speaker: "Ada King" });
      await rig.settled();
      await strip(rig, 100);
      const again = await reopened(rig, a);
      a.asked.length = 0;
      await maintain(again.memory, { level: "light" });
      expect(await bare(rig)).toBe(0);
      expect(a.asked).toHaveLength(COUNT + 1);
      expect(a.asked).toContain("saw a heron");
    });

    test("do not hold up a change of model", async () => {
      const { rig, a, texts } = await furnished();
      await strip(rig, 20);
      const next = await reopened(rig, hashEmbedder("b"), a);
      expect(await next.found(texts)).toEqual({ missed: [], degraded: undefined });
      expect(await next.run()).toMatchObject({ complete: true });
      expect(await states(rig)).toEqual(["retired", "serving"]);
      expect(await bare(rig)).toBe(0);
      expect(await next.found(texts)).toEqual({ missed: [], degraded: undefined });
    });
  });

  describe("two processes", () => {
    test("one that still has the old model says so once it is replaced, and its writes get their vectors", async () => {
      const { rig, a, texts } = await furnished();
      const b = await reopened(rig, hashEmbedder("b"), a);
      await b.run();
      await maintain(rig.memory, { level: "light" });
      const answer = await rig.call("memory_search", { query: "w3w" });
      expect(answer.degraded).toMatch(/another process has rebuilt the embeddings with hashed-words int8/);
      expect(answer.results[0].content).toBe(texts[3]);
      expect(await states(rig)).toEqual(["retired", "serving"]);
      await rig.call("memory_store_episode", { content: "Written by the old one w98w", butler: "general" });
      await maintain(b.memory, { level: "light" });
      expect(await b.found([...texts, "Written by the old one w98w"])).toEqual({ missed: [], degraded: undefined });
    });

    test("going back to the first model rebuilds it, and two runs at once do no harm", async () => {
      const { rig, a, texts } = await furnished();
      const b = hashEmbedder("b");
      await (await reopened(rig, b, a)).run();
      const back = await reopened(rig, hashEmbedder("a"), b);
      const again = await reopened(rig, hashEmbedder("a"), b);
      expect(await states(rig)).toEqual(["building", "serving"]);
      await Promise.all([back.run(), again.run()]);
      expect(await states(rig)).toEqual(["serving", "retired"]);
      await again.run();
      expect(Object.values(await vectors(rig))).toEqual([COUNT]);
      for (const process of [back, again])
        expect(await process.found(texts)).toEqual({ missed: [], degraded: undefined });
    });

    test("a first model serves at once, and so does another one while there are no vectors", async () => {
      const rig = await open({ model: false });
      await rig.call("memory_store_episode", { content: "Stored before any model came", butler: "general" });
      await rig.memory.adopt(hashEmbedder("a"));
      expect(await states(rig)).toEqual(["serving"]);
      const next = await reopened(rig, hashEmbedder("b"));
      expect(await states(rig)).toEqual(["retired", "serving"]);
      expect(await next.run()).toMatchObject({ changed: 1, counts: { embedded: 1 } });
      expect(await next.found(["Stored before any model came"])).toEqual({ missed: [], degraded: undefined });
    });
  });
});
