import { expect, it } from "vitest";
import { compositeScore } from "../../src/engine/domain/ranking/scoring.ts";
import { maintain } from "../../src/engine/memory/keep/maintain.ts";
import { buildIndex, dropIndex, indexState } from "../../src/engine/store/index/vector-index.ts";
import { onEachStore } from "../support/stores.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

type Signal = "relevance" | "recency" | "effective_confidence";
type Hit = Record<Signal | "score" | "importance", number> & {
  id: string;
  type: string;
  maturity?: "candidate";
  explain?: { cosine: number; keyword_score: number; signals: Record<string, { scaled: number; weight: number }> };
};
const WEIGHTS = { relevance: 0.4, importance: 0.3, recency: 0.2, confidence: 0.1 };
const MODES = ["keyword", "semantic", "hybrid"] as const;
const search = async (g: Guest, query: string, extra = {}): Promise<Hit[]> =>
  (await g.call("memory_search", { query, ...extra })).results;
const ids = (hits: readonly Hit[]) => hits.map((hit) => hit.id);

async function furnish(g: Guest) {
  const episode = await g.call("memory_store_episode", { content: "The cat slept on the warm laptop", tags: ["pets"] });
  const fact = await g.call("memory_store_fact", {
    subject: "user",
    predicate: "pet",
    content: "A cat called Turing",
    importance: 9,
    tags: ["pets", "home"],
  });
  const rule = await g.call("memory_store_rule", { content: "Ask about the cat before smalltalk", tags: ["home"] });
  await g.call("memory_store_fact", { subject: "user", predicate: "bank", content: "Sparkasse" });
  return { episode: episode.id as string, fact: fact.id as string, rule: rule.id as string };
}

onOneRig("search", (guest) => {
  it.each(MODES)("finds all three types by %s", async (mode) => {
    const g = guest();
    const all = await furnish(g);
    const answer = await g.call("memory_search", { query: "cat", mode });
    expect(answer.mode).toBe(mode);
    expect(answer.degraded).toBeUndefined();
    expect(ids(answer.results).slice(0, 3).toSorted()).toEqual(Object.values(all).toSorted());
    for (const hit of answer.results as Hit[]) {
      for (const signal of ["relevance", "recency", "effective_confidence"] as const)
        expect(hit[signal], signal).toSatisfy((n: number) => n >= 0 && n <= 1);
      expect(hit.score).toBe(hit.relevance);
    }
  });

  it("finds by meaning what shares no word", async () => {
    const g = guest();
    const { fact } = await furnish(g);
    expect(await search(g, "feline companion", { mode: "keyword" })).toEqual([]);
    expect(ids(await search(g, "feline companion", { mode: "semantic", types: ["fact"] }))[0]).toBe(fact);
  });

  it("filters by type, tier and all of the tags", async () => {
    const g = guest();
    const all = await furnish(g);
    expect(ids(await search(g, "cat", { types: ["rule"] }))).toEqual([all.rule]);
    expect(ids(await search(g, "cat", { tags: ["pets"] })).toSorted()).toEqual([all.episode, all.fact].toSorted());
    expect(ids(await search(g, "cat", { tags: ["pets", "home"] }))).toEqual([all.fact]);
    expect(ids(await search(g, "cat", { tier: "eden" }))).toEqual([all.episode]);
    expect(await search(g, "cat", { tier: "long" })).toEqual([]);
    expect(await search(g, "cat", { tags: ["nobody"] })).toEqual([]);
    const { results } = await g.call("memory_recall", { topic: "cat" });
    expect(results.every((r: Hit) => r.type !== "episode")).toBe(true);
  });

  it("keeps to the limit and gives the best", async () => {
    const g = guest();
    await furnish(g);
    const every = ids(await search(g, "cat"));
    expect(ids(await search(g, "cat", { limit: 2 }))).toEqual(every.slice(0, 2));
    expect((await g.refused("memory_search", { query: "cat", limit: 0 })).field).toBe("limit");
    expect((await g.refused("memory_search", { query: "cat", limit: 201 })).field).toBe("limit");
    expect((await g.refused("memory_search", { query: " " })).field).toBe("query");
  });

  it("ranks by relevance unless asked, and the composite is its formula", async () => {
    const g = guest();
    await furnish(g);
    g.later(2);
    const hits = await search(g, "cat", { rank: "composite", explain: true });
    for (const hit of hits) {
      const { relevance, importance, recency, effective_confidence: confidence, maturity } = hit;
      const signals = { relevance, importance, recency, confidence, ...(maturity ? { maturity } : {}) };
      expect(hit.score).toBeCloseTo(compositeScore(signals, WEIGHTS), 12);
    }
    expect(hits.map((h) => h.score)).toEqual(hits.map((h) => h.score).toSorted((a, b) => b - a));
  });

  it("breaks ties by age, then by id", async () => {
    const g = guest();
    const twins: string[] = [];
    for (const session of ["a", "b", "c"]) {
      const input = { content: "Identical words here", session_id: session };
      twins.push((await g.call("memory_store_episode", input)).id);
    }
    g.later(0.5);
    const young = await g.call("memory_store_episode", { content: "Identical words here", session_id: "d" });
    const hits = await search(g, "identical words", { mode: "keyword" });
    expect(new Set(hits.map((h) => h.score)).size).toBe(1);
    expect(ids(hits)).toEqual([young.id, ...twins.toSorted()]);
  });

  it("explains each place", async () => {
    const g = guest();
    const { fact } = await furnish(g);
    g.later(10);
    const [hit] = await search(g, "Turing", { explain: true, types: ["fact"] });
    expect(hit).toMatchObject({
      id: fact,
      explain: {
        ...{ keyword_rank: 1, semantic_rank: 1, reranked: "late-interaction", intent: { intent: "other" } },
        ...{ confidence: 1, decay_per_day: 0.008, reference_count: 0 },
      },
    });
    const { cosine, keyword_score, signals } = hit?.explain ?? {};
    expect(cosine).toSatisfy((n: number) => n > 0 && n <= 1);
    expect(keyword_score).toBeGreaterThan(0);
    // Alone it is the best by words, tokens and meaning; who said it and what came before is nothing to a fact.
    const full = Object.entries(signals ?? {}).flatMap(([name, { scaled }]) => (scaled === 1 ? [name] : []));
    expect(full.toSorted()).toEqual(["keywords", "meaning", "tokens"]);
    const [plain] = await search(g, "Turing", { mode: "keyword", explain: true, types: ["fact"] });
    expect(plain).toMatchObject({ id: fact, relevance: 1, explain: { reranked: "none" } });
    expect(plain?.explain).not.toHaveProperty("signals");
    expect(await search(g, "Turing")).not.toHaveProperty("0.explain");
  });

  it("gates on effective confidence, and min_confidence moves the gate both ways", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", {
      subject: "user",
      predicate: "mood",
      content: "Cheerful",
      permanence: "volatile",
    });
    g.later(20);
    const confidence = Math.exp(-0.03 * 20);
    for (const mode of MODES) {
      const [hit] = await search(g, "user mood cheerful", { mode });
      expect(hit?.effective_confidence).toBeCloseTo(confidence, 12);
      expect(await search(g, "user mood cheerful", { mode, min_confidence: confidence + 0.01 })).toEqual([]);
    }
    g.later(50);
    for (const mode of MODES) {
      expect(await search(g, "user mood cheerful", { mode })).toEqual([]);
      expect(ids(await search(g, "user mood cheerful", { mode, min_confidence: 0 }))).toEqual([id]);
    }
    await g.call("memory_forget", { id });
    for (const mode of MODES) expect(await search(g, "user mood cheerful", { mode, min_confidence: 0 })).toEqual([]);
  });

  it("does not trip over what a query can hold", async () => {
    const g = guest();
    await furnish(g);
    for (const query of [
      "the",
      "'; drop table facts; --",
      "<|endoftext|>",
      "猫",
      "🐈‍⬛",
      "a".repeat(4000),
      "\\ % _ : & | !",
    ])
      for (const mode of MODES) expect(Array.isArray(await search(g, query, { mode }))).toBe(true);
  });
});

onOneRig("a rare tag among many", (guest) => {
  it("is found wherever it stands, by every mode", async () => {
    const g = guest();
    const rare = new Set([17, 288]);
    const episodes = Array.from({ length: 300 }, (_, n) => ({
      content: `Report ${n}: the deployment of the service went well`,
      tags: rare.has(n) ? ["rare"] : ["common"],
    }));
    const { results } = await g.call("memory_ingest_batch", { episodes });
    const wanted = [results[17].id, results[288].id].toSorted();
    for (const mode of MODES)
      expect(ids(await search(g, "deployment of the service", { tags: ["rare"], mode })).toSorted()).toEqual(wanted);
    const note = await g.call("memory_store", { content: "Report: the deployment of the service", tier: "long" });
    for (const mode of MODES)
      expect(ids(await search(g, "deployment of the service", { tier: "long", mode }))).toEqual([note.id]);
    const fact = await g.call("memory_store_fact", { subject: "service", predicate: "owner", content: "Grace" });
    for (const mode of MODES)
      expect(ids(await search(g, "deployment of the service", { types: ["fact"], mode }))).toEqual([fact.id]);
    expect(await search(g, "deployment service", { limit: 200 })).toHaveLength(200);
  });
});

onOneRig(
  "search without a model",
  (guest) => {
    it("answers by keyword and says that it is less", async () => {
      const g = guest();
      const { fact } = await furnish(g);
      for (const mode of ["hybrid", "semantic"]) {
        const answer = await g.call("memory_search", { query: "Turing", mode });
        expect(answer.degraded).toMatch(/no embedding model/);
        expect(ids(answer.results)).toEqual([fact]);
      }
      expect((await g.call("memory_search", { query: "Turing", mode: "keyword" })).degraded).toBeUndefined();
      expect((await g.call("memory_recall", { topic: "Turing" })).degraded).toMatch(/butler model pull/);
      const context = await g.call("memory_context", { trigger_prompt: "Turing" });
      expect(context.degraded).toMatch(/no embedding model/);
      expect(context.text).toContain("Turing");
      expect((await g.call("memory_stats", {})).degraded).toMatch(/no embedding model/);
    });
  },
  { model: false },
);

onEachStore(
  "a vector index",
  (open) => {
    it("of either kind does not hide a rare tag", async () => {
      const { call, db, memory } = await open({ settings: { retrieval: { vector_index: "ivfflat" } } });
      const episodes = Array.from({ length: 200 }, (_, n) => ({
        content: `Note ${n} about the weather in the mountains`,
        tags: n === 150 ? ["rare"] : [],
      }));
      const { results } = await call("memory_ingest_batch", { episodes });
      const found = async () => {
        const asked = { query: "mountain weather", mode: "semantic", tags: ["rare"] };
        return ids((await call("memory_search", asked)).results);
      };
      await maintain(memory, { level: "light" });
      expect(await indexState(db, memory.embeddingVersion ?? 0)).toEqual({ kind: "ivfflat", rows: 200, builtAt: 200 });
      expect(await found()).toEqual([results[150].id]);
      await buildIndex(db, memory.embeddingVersion ?? 0, 384, "hnsw", 200);
      expect(await indexState(db, memory.embeddingVersion ?? 0)).toMatchObject({ kind: "hnsw" });
      expect(await found()).toEqual([results[150].id]);
    });

    it("is not built beside calls on a store that would not answer meanwhile, until a full upkeep comes; dropping one does not wait", async () => {
      const { call, db, memory } = await open({ settings: { retrieval: { vector_index: "ivfflat" } } });
      const version = memory.embeddingVersion ?? 0;
      const kindAfter = async (level: "light" | "full", beside: boolean) => {
        await maintain(memory, { level, beside });
        return (await indexState(db, version)).kind;
      };
      await call("memory_store_episode", { content: "Rain in the mountains" });
      expect(await kindAfter("light", true)).toBe(db.kind === "pglite" ? "none" : "ivfflat");
      expect(await kindAfter("light", false)).toBe("ivfflat");
      await dropIndex(db, version);
      expect(await kindAfter("full", true)).toBe("ivfflat");
      const other = await open({ settings: { retrieval: { vector_index: "none" } } });
      await buildIndex(other.db, other.memory.embeddingVersion ?? 0, 384, "ivfflat", 1);
      await maintain(other.memory, { level: "light", beside: true });
      expect((await indexState(other.db, other.memory.embeddingVersion ?? 0)).kind).toBe("none");
    });
  },
  "embedded",
);
