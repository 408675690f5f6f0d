/** The second stage of a search: who reads the candidates, and what becomes of their relevance. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openCrossEncoder } from "../../src/engine/adapters/reranker/cross-encoder.ts";
import type { Reranker } from "../../src/engine/adapters/reranker/port.ts";
import { fuse } from "../../src/engine/domain/ranking/fuse.ts";
import { RECIPE } from "../../src/engine/domain/ranking/recipe.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { callTool } from "../../src/engine/tools/call.ts";
import { type HashEmbedder, hashEmbedder } from "../support/hash-embedder.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";
import { writeTinyCrossEncoder } from "../support/tiny-cross-encoder.ts";

interface Hit {
  readonly id: string;
  readonly content: string;
  readonly speaker?: string;
  readonly relevance: number;
  readonly explain: {
    readonly keyword_rank: number | null;
    readonly semantic_rank: number | null;
    readonly cosine: number | null;
    readonly reranked: string;
    readonly signals?: Readonly<Record<string, { raw: number; scaled: number; weight: number }>>;
  };
}
interface Answer {
  readonly results: readonly Hit[];
  readonly degraded?: string;
}
type Rerank = "none" | "late-interaction" | "cross-encoder";

let scratch: string;
let tiny: Reranker;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "butler-rerank-"));
  tiny = await openCrossEncoder(await writeTinyCrossEncoder(scratch));
});
afterAll(async () => {
  await tiny?.close();
  await rm(scratch, { recursive: true, force: true });
});

/** The same store as another configuration would have opened it. */
/** Also what hardly fits: here it is ranks that are looked at. */
const ALL = { explain: true, min_relevance: 0 };

async function ask(g: Guest, rerank: Rerank, input: object, reranker?: Reranker): Promise<Answer> {
  const settings = Settings.parse({ retrieval: { rerank, diversify: false } });
  const memory = Object.create(g.memory, { settings: { value: settings }, reranker: { value: reranker } });
  const identity = { name: "test", tenant: g.tenant, butler: "*", admin: false, voice: "user" } as const;
  const outcome = await callTool(memory, identity, { tool: "memory_search", input: { ...ALL, ...input } });
  if (!outcome.ok) throw new Error(outcome.error.message);
  await g.settled();
  return outcome.answer as unknown as Answer;
}

const tell = async (g: Guest, content: string, more: object = {}): Promise<string> =>
  (await g.call("memory_store_episode", { content, ...more })).id;
const ids = ({ results }: Answer) => results.map(({ id }) => id);
const plainly = ({ results }: Answer) => results.map(({ id, relevance }) => ({ id, relevance }));
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

onOneRig(
  "reranking",
  (guest) => {
    let model: HashEmbedder | undefined;
    const furnished = async (): Promise<Guest & { readonly model: HashEmbedder }> => {
      const g = guest();
      model ??= hashEmbedder("rerank");
      if (g.memory.embedder === undefined) await g.memory.adopt(model);
      return Object.assign(g, { model });
    };
    const aboutTea = async () => {
      const g = await furnished();
      for (const content of ["green tea", "a tea house", "the old mill", "honey for the tea", "green stone"])
        await tell(g, content);
      return g;
    };

    it("by nobody leaves the fused ranks of both arms", async () => {
      const g = await aboutTea();
      const { results } = await ask(g, "none", { query: "green tea" });
      const arm = (rank: "keyword_rank" | "semantic_rank") =>
        results
          .filter(({ explain }) => explain[rank] !== null)
          .toSorted((a, b) => (a.explain[rank] ?? 0) - (b.explain[rank] ?? 0))
          .map(({ id }) => id);
      const fused = fuse([arm("keyword_rank"), arm("semantic_rank")]);
      expect(results).toHaveLength(5);
      for (const { id, relevance, explain } of results) {
        expect(relevance).toBeCloseTo(fused.get(id) ?? 0, 12);
        expect(explain.reranked).toBe("none");
        expect(explain).not.toHaveProperty("signals");
      }
    });

    it("by late interaction adds the signals up to relevance", async () => {
      const g = await furnished();
      for (const [speaker, content] of [
        ["Grace", "Which river did you paint?"],
        ["Ada", "The one behind the old mill."],
        ["Grace", "I like the mill more than the river."],
      ] as const)
        await tell(g, content, { session_id: "monday", speaker });
      await g.call("memory_store_fact", { subject: "Ada", predicate: "paints", content: "rivers" });
      await g.call("memory_store_rule", { content: "Ask before you sell a painting" });
      for (const query of ["What did Ada paint?", "river", "Grace and Ada at the mill", "zebra"]) {
        const { results, degraded } = await ask(g, "late-interaction", { query });
        expect(degraded).toBeUndefined();
        expect(results).toHaveLength(5);
        const totals = results.map(({ explain }) => {
          const signals = Object.values(explain.signals ?? {});
          expect(explain.reranked).toBe("late-interaction");
          expect(signals).toHaveLength(11);
          return sum(signals.map(({ scaled, weight }) => scaled * weight));
        });
        const weight = (name: string) => results[0]?.explain.signals?.[name]?.weight ?? 0;
        const usual = ["tokens", "keywords", "meaning", "speaker", "person", "session"].map(weight);
        const most = Math.max(sum(usual) + RECIPE.spare, ...totals);
        for (const [index, { relevance }] of results.entries())
          expect(relevance).toBeCloseTo(Math.min(1, Math.max(0, (totals[index] ?? 0) / most)), 12);
      }
    });

    it("by late interaction finds the answer that follows a question", async () => {
      const g = await furnished();
      const talk = { session_id: "talk" };
      await tell(g, "Which instrument do you play in the orchestra?", { ...talk, speaker: "Grace" });
      const answer = await tell(g, "Harp, since childhood.", { ...talk, speaker: "Ada" });
      await tell(g, "Lovely weather today.", { ...talk, speaker: "Grace" });
      for (let n = 0; n < 12; n++) await tell(g, `Walked in the garden to gate ${n}`);
      const asked = { query: "which instrument in the orchestra" };
      expect(ids(await ask(g, "none", asked)).slice(0, 3)).not.toContain(answer);
      const read = await ask(g, "late-interaction", asked);
      expect(ids(read).slice(0, 2)).toContain(answer);
      expect(read.results.find(({ id }) => id === answer)?.explain.signals?.answer?.raw).toBeGreaterThan(0.5);
    });

    it("by late interaction prefers what was said at the date that is named, and what tells a time when one is asked for", async () => {
      const g = await furnished();
      const said = (content: string, day: string, n: number) =>
        tell(g, content, { session_id: `talk ${n}`, speaker: "Ada", occurred_at: `2026-0${day}T12:00:00Z` });
      const may = await said("The river was high, and so was the mill.", "5-08", 1);
      const june = await said("The river was high, and so was the mill!", "6-20", 2);
      const dated = { query: "Was the river high on 8 May 2026?" };
      expect(ids(await ask(g, "late-interaction", dated))[0]).toBe(may);
      expect(
        ids(await ask(g, "late-interaction", { query: "War der Fluss, the river, hoch am 18. Juni 2026?" }))[0],
      ).toBe(june);
      await said("Ada painted a harp", "1-01", 3);
      const told = await said("Ada painted a harp yesterday", "1-01", 4);
      const { results } = await ask(g, "late-interaction", { query: "When was the harp painted?" });
      expect(results.find(({ id }) => id === told)?.explain.signals).toMatchObject({
        time: { raw: 1, weight: 0.2 },
        date: { raw: 0 },
        answer: { weight: 0 },
      });
    });

    it("by late interaction takes more candidates of what somebody said whom the question names, now as in the past", async () => {
      const g = await furnished();
      const others = Array.from({ length: 120 }, (_, n) => ({
        ...{ content: `The harp in the orchestra was loud ${n}`, session_id: `crowd ${n % 7}`, speaker: "Grace" },
      }));
      await g.call("memory_ingest_batch", { episodes: others });
      await tell(g, "Ready for tonight?", { session_id: "quiet", speaker: "Ada" });
      const wanted = await tell(g, "The harp in the orchestra was loud behind one red door, half broken", {
        ...{ session_id: "quiet", speaker: "Ada" },
      });
      const asked = { query: "Was the harp of Ada loud in the orchestra?", limit: 10 };
      const among = async (theirsAbove: number, more: object = {}) => {
        const recipe = { ...RECIPE, theirsAbove };
        const other = Object.assign(Object.create(g), {
          memory: Object.create(g.memory, { recipe: { value: recipe } }),
        });
        return ask(other, "late-interaction", { ...asked, ...more });
      };
      expect(ids(await among(Infinity))).not.toContain(wanted);
      const found = await among(0);
      expect(ids(found)).toContain(wanted);
      g.later(1);
      expect(plainly(await among(0, { as_of: g.now.toISOString() }))).toEqual(plainly(await among(0)));
    });

    it("by late interaction does not look into a session of the same name that is another butler's or tenant's", async () => {
      const g = await furnished();
      const stranger = guest();
      const question = { content: "Which instrument do you play?", session_id: "talk", speaker: "Ada" };
      await stranger.call("memory_store_episode", question);
      await g.call("memory_store_episode", question, { as: { butler: "travel" } });
      const alone = await tell(g, "Harp.", { session_id: "talk", speaker: "Grace" });
      const { results } = await ask(g, "late-interaction", { query: "Which instrument does Ada play?" });
      expect(results).toMatchObject([{ id: alone, explain: { signals: { answer: { raw: 0 }, person: { raw: 0 } } } }]);
    });

    it.each(["Ada", "Émilie", "Jean-Luc"])("prefers what %s said, and a session with them", async (name) => {
      const g = await furnished();
      const said = "I painted the river in spring";
      const others = [
        await tell(g, said, { session_id: "with", speaker: "Grace Hopper" }),
        await tell(g, said, { session_id: "without", speaker: "Alan" }),
      ];
      const own = await tell(g, said, { session_id: "with", speaker: `${name} Somebody` });
      const { results } = await ask(g, "late-interaction", { query: `What did ${name} paint in spring?` });
      expect(results.map(({ id }) => id)).toEqual([own, ...others]);
      const flags = results.map(({ explain: { signals } }) => [signals?.speaker?.raw, signals?.person?.raw]);
      expect(flags).toEqual([
        [1, 1],
        [0, 1],
        [0, 0],
      ]);
    });

    it("leaves the names of speakers out of a question's vector, not out of its words", async () => {
      const g = await furnished();
      const painted = await tell(g, "What did I paint?", { speaker: "Ada" });
      const cosine = async (query: string) => {
        const { results } = await ask(g, "late-interaction", { query, mode: "semantic" });
        return results.find(({ id }) => id === painted)?.explain.cosine;
      };
      const bare = await cosine("What did paint?");
      expect(bare).toBeGreaterThan(0.5);
      expect(await cosine("What did Ada paint?")).toBe(bare);
      expect(await cosine("What did Ada’s paint?")).toBe(bare);
      expect(await cosine("What did Grace paint?")).toBeLessThan(bare ?? 0);
      const fact = await g.call("memory_store_fact", { subject: "Ada", predicate: "born", content: "1815" });
      expect(ids(await ask(g, "none", { query: "Ada", mode: "keyword" }))).toEqual([fact.id]);
    });

    it("embeds a question once when the names in it were met before", async () => {
      const g = await furnished();
      await tell(g, "A river", { speaker: "Ada" });
      const { asked } = g.model;
      asked.length = 0;
      await ask(g, "late-interaction", { query: "What did Ada see?" });
      // Before the store has told who speaks there, the question is embedded as it is, unless memory knows it already.
      expect(asked.at(-1)).toBe("What did see?");
      expect(asked.length).toBeLessThanOrEqual(2);
      asked.length = 0;
      await ask(g, "late-interaction", { query: "Where was Ada?" });
      expect(asked).toEqual(["Where was ?"]);
    });

    it.each(["keyword", "semantic"] as const)("is nothing to the plain mode %s", async (mode) => {
      const g = await aboutTea();
      const plain = await ask(g, "none", { query: "green tea", mode });
      expect(plain.results.length).toBeGreaterThan(2);
      for (const rerank of ["late-interaction", "cross-encoder"] as const) {
        const answer = await ask(g, rerank, { query: "green tea", mode }, tiny);
        expect(plainly(answer)).toEqual(plainly(plain));
        expect(answer.degraded).toBeUndefined();
        for (const { explain } of answer.results) {
          expect(explain.reranked).toBe("none");
          expect(explain).not.toHaveProperty("signals");
        }
      }
    });

    it("by a cross-encoder takes its scores for relevance", async () => {
      const g = await aboutTea();
      const { results, degraded } = await ask(g, "cross-encoder", { query: "green tea" }, tiny);
      expect(degraded).toBeUndefined();
      expect(results).toHaveLength(5);
      const scores = await tiny.score(
        "green tea",
        results.map(({ content }) => content),
      );
      expect(results.map(({ relevance }) => relevance)).toEqual([...scores]);
      expect([...scores]).toEqual([...scores].toSorted((a, b) => b - a));
      expect(results[0]).toMatchObject({ content: "green tea", explain: { reranked: "cross-encoder" } });
    });

    it("by a cross-encoder reads the best thirty, and the others keep their order below", async () => {
      const g = await furnished();
      const episodes = Array.from({ length: 40 }, (_, n) => ({ content: `tea ${"stone ".repeat(n % 7)}number ${n}` }));
      await g.call("memory_ingest_batch", { episodes });
      const read: string[] = [];
      const noting: Reranker = {
        ...tiny,
        score: (query, texts) => {
          read.push(...texts);
          return tiny.score(query, texts);
        },
      };
      const asked = { query: "tea", limit: 200 };
      const before = (await ask(g, "late-interaction", asked)).results.map(({ content }) => content);
      const { results } = await ask(g, "cross-encoder", asked, noting);
      expect(read).toEqual(before.slice(0, 30));
      expect(results).toHaveLength(40);
      expect(
        results
          .slice(0, 30)
          .map(({ content }) => content)
          .toSorted(),
      ).toEqual(read.toSorted());
      expect(results.slice(30).map(({ content }) => content)).toEqual(before.slice(30));
    });

    it("by a cross-encoder that is missing or fails says so, and answers by late interaction", async () => {
      const g = await aboutTea();
      const expected = plainly(await ask(g, "late-interaction", { query: "green tea" }));
      const broken: Reranker = { ...tiny, score: () => Promise.reject(new Error("out of memory")) };
      for (const [reranker, why] of [
        [undefined, /without a cross-encoder: none was opened/],
        [broken, /without the cross-encoder: out of memory/],
      ] as const) {
        const answer = await ask(g, "cross-encoder", { query: "green tea" }, reranker);
        expect(answer.degraded).toMatch(why);
        expect(plainly(answer)).toEqual(expected);
      }
      const nothing = await ask(guest(), "cross-encoder", { query: "green tea" });
      expect(nothing).toMatchObject({ results: [] });
    });
  },
  { model: false, role: "memory" },
);

onOneRig(
  "reranking without a model",
  (guest) => {
    it("reads the words around a find, and says that it is less", async () => {
      const g = guest();
      await tell(g, "Which instrument do you play?", { session_id: "talk", speaker: "Grace" });
      const answer = await tell(g, "Harp.", { session_id: "talk", speaker: "Ada" });
      await tell(g, "Nothing of that kind");
      const { results, degraded } = await ask(g, "late-interaction", { query: "instrument" });
      expect(degraded).toMatch(/no embedding model/);
      expect(results.map(({ id }) => id)).toContain(answer);
      for (const { explain } of results)
        expect(explain).toMatchObject({
          cosine: null,
          signals: { tokens: { weight: 0 }, meaning: { weight: 0 }, keywords: { weight: 1 } },
        });
    });
  },
  { model: false },
);
