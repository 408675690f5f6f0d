/** What holds for every answer, whatever is remembered and however it is asked for. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { openTokenizer } from "../../src/engine/adapters/tokenizer/gpt.ts";
import { TIERS } from "../../src/engine/domain/lifecycle/tiers.ts";
import { MEMORY_TYPES } from "../../src/engine/domain/memory-types.ts";
import { NEAR_EQUAL } from "../../src/engine/domain/ranking/diversify.ts";
import { byRank } from "../../src/engine/domain/ranking/scoring.ts";
import {
  type Asking,
  allowed,
  BUTLERS,
  type Butler,
  everything,
  live,
  questions,
  steps,
  tags,
  told,
} from "../support/crowd.ts";
import { hashEmbedder } from "../support/hash-embedder.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

interface Hit {
  readonly id: string;
  readonly score: number;
  readonly relevance: number;
  readonly recency: number;
  readonly effective_confidence: number;
  readonly created_at: string;
  readonly explain: {
    readonly composite: number;
    readonly reranked: string;
    readonly demoted?: { readonly key: string; readonly by: number };
    readonly signals?: Readonly<Record<string, { scaled: number; weight: number }>>;
  };
}

interface Question extends Asking {
  readonly limit?: number | undefined;
  readonly rank?: "relevance" | "composite" | undefined;
}

/** Many filters at once leave little to find. */
const rarely = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
const asking: fc.Arbitrary<Question> = fc
  .record({
    query: questions,
    types: rarely(fc.subarray([...MEMORY_TYPES], { minLength: 1 })),
    scope: rarely(fc.constantFrom("global", "own")),
    tags: rarely(tags.filter((drawn) => drawn.length < 3)),
    tier: rarely(fc.constantFrom(...TIERS)),
    min_confidence: rarely(fc.constantFrom(0, 0.05, 0.2, 0.5, 0.95)),
    mode: rarely(fc.constantFrom("hybrid", "semantic", "keyword")),
    limit: fc.constantFrom(undefined, 3, 10, 200),
    rank: fc.constantFrom(undefined, "relevance", "composite"),
  })
  .map(
    (drawn) =>
      Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined)) as unknown as Question,
  );

const by = (butler: Butler) => ({ as: { butler } });
const meant = (butler: Butler, asked: Question): Question =>
  asked.scope === "own" ? { ...asked, scope: butler } : asked;

/** Best first; whoever gave way says so, and those that came before it instead were nearly as good. */
function inOrder(hits: readonly Hit[]): void {
  const ranked = hits.map((hit) => ({ ...hit, created_at: new Date(hit.created_at) }));
  const firm = ranked.filter(({ explain }) => explain.demoted === undefined);
  expect(firm.map(({ id }) => id)).toEqual(firm.toSorted(byRank).map(({ id }) => id));
  ranked.forEach((hit, at) => {
    const overtakers = ranked.slice(0, at).filter((other) => byRank(hit, other) < 0);
    expect(overtakers, hit.id).toHaveLength(hit.explain.demoted?.by ?? 0);
    for (const other of overtakers) expect(hit.score - other.score).toBeLessThanOrEqual(NEAR_EQUAL);
  });
}

function inBounds(hits: readonly Hit[], asked: Question): void {
  for (const hit of hits) {
    const { score, relevance, recency, effective_confidence, explain } = hit;
    for (const [name, value] of Object.entries({ relevance, recency, effective_confidence }))
      expect(value >= 0 && value <= 1, `${name} ${value}`).toBe(true);
    expect(effective_confidence).toBeGreaterThanOrEqual(asked.min_confidence ?? 0.2);
    expect(score).toBe(asked.rank === "composite" ? explain.composite : relevance);
    expect(explain.reranked).toBe((asked.mode ?? "hybrid") === "hybrid" ? "late-interaction" : "none");
  }
}

async function searchHolds(g: Guest, butler: Butler, drawn: Question): Promise<number> {
  const asked = meant(butler, drawn);
  const answer = await g.call("memory_search", { ...asked, min_relevance: 0, explain: true }, by(butler));
  const hits = answer.results as Hit[];
  const ids = hits.map(({ id }) => id);
  const may = allowed(await everything(g), butler, asked);
  expect(answer.degraded).toBeUndefined();
  expect(
    ids.filter((id) => !may.has(id)),
    "gated, foreign, over or filtered",
  ).toEqual([]);
  expect(new Set(ids).size, "each once").toBe(ids.length);
  // Fewer than an arm is deep: all that may be found is found, so that no filter empties what exists.
  expect(ids).toHaveLength(Math.min(asked.limit ?? 20, may.size));
  inOrder(hits);
  inBounds(hits, asked);
  return hits.length;
}

const profile = (text: string) =>
  /# Always\n([\s\S]*?)(?=^# (?:Facts|Rules|Earlier)$|^<\/butler-memory>$)/m.exec(text)?.[1] ?? "";

async function contextHolds(g: Guest, butler: Butler, prompts: readonly string[], token_budget: number): Promise<void> {
  const { count } = await openTokenizer("o200k_base");
  const may = allowed(await everything(g), butler, { query: "" }, true);
  const requests = prompts.map((trigger_prompt) => ({ trigger_prompt, token_budget }));
  const singles: Record<string, unknown>[] = [];
  for (const request of requests) {
    const single = await g.call("memory_context", request, by(butler));
    expect(count(single.text)).toBeLessThanOrEqual(token_budget);
    expect(single.tokens).toBe(count(single.text));
    const shown = single.sections.flatMap((s: { items: Hit[] }) => s.items.map(({ id }) => id));
    expect(
      shown.filter((id: string) => !may.has(id)),
      "gated, foreign or over",
    ).toEqual([]);
    expect(new Set(shown).size, "each once").toBe(shown.length);
    expect(profile(single.text), "the part that no prompt changes").toBe(
      profile(String(singles[0]?.text ?? single.text)),
    );
    singles.push(single);
    await g.settled();
  }
  for (const [at, request] of requests.entries())
    expect(await g.call("memory_context", request, by(butler)), "the same bytes").toEqual(singles[at]);
  await g.settled();
  const { responses } = await g.call("memory_context_batch", { requests }, by(butler));
  expect(responses).toEqual(singles.map((single) => ({ ok: true, ...single })));
}

onOneRig(
  "retrieval",
  (guest, store) => {
    const runs = (most: number) => ({
      numRuns: Number(process.env.LIVES ?? (store === "PGlite" ? most : Math.ceil(most / 3))),
      endOnFailure: process.env.SHRINK === undefined,
    });
    const furnished = async (life: Parameters<typeof live>[1], others: Parameters<typeof live>[1]) => {
      const [g, other] = [guest(), guest()];
      if (g.memory.embedder === undefined) await g.memory.adopt(hashEmbedder("laws"));
      await live(other, others);
      await live(g, life);
      return g;
    };

    it("answers with what may be seen, all of it, in order and in bounds", async () => {
      let found = 0;
      const questionsOf = fc.array(fc.tuple(fc.constantFrom(...BUTLERS), asking), { minLength: 8, maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(
          steps,
          fc.array(told, { minLength: 6, maxLength: 8 }),
          questionsOf,
          async (life, others, asked) => {
            const g = await furnished(life, others);
            for (const [butler, question] of asked) found += await searchHolds(g, butler, question);
          },
        ),
        runs(12),
      );
      expect(found).toBeGreaterThan(10);
    });

    it("fills a context within its budget, the same bytes each time and one by one", async () => {
      const prompts = fc.uniqueArray(questions, { minLength: 2, maxLength: 3 });
      const budget = fc.oneof(fc.integer({ min: 1, max: 150 }), fc.integer({ min: 150, max: 1500 }));
      await fc.assert(
        fc.asyncProperty(
          steps,
          fc.array(told, { minLength: 4, maxLength: 6 }),
          prompts,
          budget,
          async (life, others, asked, tokens) => {
            const g = await furnished(life, others);
            for (const butler of BUTLERS) await contextHolds(g, butler, asked, tokens);
          },
        ),
        runs(12),
      );
    });

    it("is not changed by what others remember", async () => {
      const mine = steps.map((life) =>
        life.map((step) => ("butler" in step ? { ...step, butler: "general" as const } : step)),
      );
      const theirs = fc.array(told, { minLength: 10, maxLength: 16 });
      const abroad = (step: Parameters<typeof live>[1][number]) =>
        "input" in step ? { ...step, butler: "travel" as const, input: ownScope(step) } : step;
      const ownScope = (step: { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }) =>
        step.tool === "memory_store_fact" || step.tool === "memory_store_rule"
          ? { ...step.input, scope: "travel" }
          : step.input;
      await fc.assert(
        fc.asyncProperty(
          mine,
          theirs,
          fc.array(questions, { minLength: 3, maxLength: 3 }),
          async (life, others, asked) => {
            const g = await furnished(life, []);
            const answers = async () => {
              const all: unknown[] = [];
              for (const query of asked) {
                const { results } = await g.call("memory_search", { query, limit: 200 }, by("general"));
                all.push(results.map(({ id, relevance }: Hit) => ({ id, relevance })));
                all.push((await g.call("memory_context", { trigger_prompt: query }, by("general"))).text);
              }
              await g.settled();
              return all;
            };
            const before = await answers();
            const now = g.now;
            await live(guest(), others);
            g.set(now);
            await live(g, others.map(abroad));
            expect(await answers()).toEqual(before);
          },
        ),
        runs(6),
      );
    });
  },
  { model: false, role: "memory" },
);
