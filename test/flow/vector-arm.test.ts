/** A server finds the nearest vectors while the words are read; the answer is that of one statement after the other. */
import { expect, it } from "vitest";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import { hashEmbedder } from "../support/hash-embedder.ts";
import { onEachStore, openRig } from "../support/stores.ts";

const TEXTS = [
  "The cat slept on the warm laptop",
  "Larkspur grows by the garden gate",
  "The kettle of the office is broken",
  "A cat called Turing likes the kettle",
];

function watch(db: Db) {
  const sent: string[] = [];
  const noted = wrapDb(db, (inner) => ({
    query: (text, params) => {
      sent.push(text.trim());
      return inner.query(text, params);
    },
  }));
  return { db: noted, sent };
}

onEachStore("the vector arm", (open, store) => {
  it.each(["late-interaction", "none"])(
    "is asked for beside the words once the size of the shelves is known: %s",
    async (rerank) => {
      const { db, sent } = watch((await open()).db);
      const rig = await openRig(db, { settings: { retrieval: { rerank } } });
      // As in a store that is too large to be held in memory, which would answer from the second question on.
      Object.assign(rig.memory.readModel, { load: async () => undefined, caughtUp: async () => undefined });
      for (const content of TEXTS) await rig.call("memory_store_episode", { content });
      await rig.settled();
      const ask = async () => {
        sent.length = 0;
        const { results } = await rig.call("memory_search", { query: "where does the cat sleep", min_relevance: 0 });
        await rig.settled();
        const early = sent.filter((text) => text.startsWith("with vectors as")).length;
        return { early, results: results.map(({ id, relevance }: Record<string, unknown>) => ({ id, relevance })) };
      };
      const onServer = store.includes("PostgreSQL") ? 1 : 0;
      const first = await ask();
      expect(first.early).toBe(0);
      expect(first.results).toHaveLength(TEXTS.length);
      expect(await ask()).toEqual({ early: onServer, results: first.results });
      // A guess that was wrong: the lists that were found are too deep, and are asked for again.
      Object.assign(rig.memory.knownSizes, { get: () => ({ all: 1_000_000, each: [1_000_000] }) });
      expect(await ask()).toEqual({ early: onServer, results: first.results });
    },
  );

  it("is asked once where a question names somebody, and beside it what they said", async () => {
    const { db, sent } = watch((await open()).db);
    const rig = await openRig(db);
    Object.assign(rig.memory.readModel, { load: async () => undefined, caughtUp: async () => undefined });
    Object.assign(rig.memory, { recipe: { ...rig.memory.recipe, theirsAbove: 0 } });
    const speakers = ["Ada", "Grace", "Linus"];
    for (let n = 0; n < 90; n++)
      await rig.call("memory_store_episode", {
        content: `${TEXTS[n % TEXTS.length]} for the ${n}th time`,
        speaker: speakers[n % 3],
        session_id: `s${n % 7}`,
      });
    await rig.settled();
    const ask = async () => {
      sent.length = 0;
      const query = "what did Ada say about the cat and the kettle";
      const { results } = await rig.call("memory_search", { query, min_relevance: 0, limit: 30 });
      await rig.settled();
      const lists = sent.filter((text) => text.includes("from embeddings e where e.version_id")).length;
      const early = sent.filter((text) => text.startsWith("with vectors as")).length;
      return {
        lists,
        early,
        results: results.map(({ id, relevance }: Record<string, unknown>) => ({ id, relevance })),
      };
    };
    const first = await ask();
    expect(first).toMatchObject({ lists: 1, early: 0 });
    expect(first.results).toHaveLength(30);
    const onServer = store.includes("PostgreSQL");
    expect(await ask()).toEqual({ lists: 1, early: onServer ? 2 : 0, results: first.results });
  });

  it("is not asked again for later pages of the words", async () => {
    const rig = await open({ settings: { retrieval: { rerank: "none" } }, model: false });
    await rig.memory.adopt(hashEmbedder("pages"));
    Object.assign(rig.memory.readModel, { load: async () => undefined, caughtUp: async () => undefined });
    const fact = (n: number, confidence: number) =>
      rig.call("memory_store_fact", { subject: `Cat ${n}`, predicate: "likes", content: "the kettle", confidence });
    for (let n = 0; n < 130; n++) await fact(n, 0.5);
    const { id } = await fact(130, 1);
    const { results } = await rig.call("memory_search", { query: "who likes the kettle", min_confidence: 0.9 });
    expect(results.map((found: Record<string, unknown>) => found.id)).toContain(id);
  });
});
