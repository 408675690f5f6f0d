/** What people do with what was learned moves how sure the reader has to be: for them, by kind, until they start again. */
import { expect, it } from "vitest";
import { learnFrom } from "../../src/engine/adapters/extractor/local/collect.ts";
import { shippedReader } from "../../src/engine/adapters/extractor/local/reader/reader.ts";
import type { Material } from "../../src/engine/adapters/extractor/port.ts";
import type { Claim } from "../../src/engine/domain/fact.ts";
import { BAR, type Bars, KINDS, type Kind } from "../../src/engine/domain/learning/kinds.ts";
import { contentKey } from "../../src/engine/domain/text/text.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { readCorpus } from "../../src/lab/learning/corpus.ts";
import { runJob } from "../support/job-runs.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { onEachStore } from "../support/stores.ts";
import { type Guest, guestOf, onOneRig } from "../support/tenants.ts";

const TRAINED = readCorpus().train;
const CHARS = { least: 25, most: 120 };

function learnedAt(text: string, bars?: Bars): readonly string[] {
  const said = { label: "e1", text, speaker: "user", day: "2026-03-01", trust: "user", session: null } as const;
  const material: Material = { butler: "general", today: "2026-03-01", episodes: [said], facts: [], rules: [] };
  const { answer, found } = learnFrom(bars === undefined ? material : { ...material, bars });
  const told = [
    ...answer.facts.map((fact, at) => ({ ...fact, ...found.facts[at] })),
    ...answer.rules.map((rule, at) => ({ ...rule, ...found.rules[at] })),
  ];
  return told.filter(({ hint }) => !hint).map(({ content }) => content);
}

const allAt = (bar: number): Bars => Object.fromEntries(KINDS.map((kind) => [kind, bar])) as Record<Kind, number>;

/** Sentences of the corpus that the reader takes for this kind, with so much sureness, and no pattern knows, whatever its weights are. */
function sentences(kind: Kind, from: number, to: number, n: number): string[] {
  const kept: string[] = [];
  for (const { text } of TRAINED) {
    if (kept.length === n) break;
    if (text.length < CHARS.least || text.length > CHARS.most) continue;
    const [read, ...more] = shippedReader().read(text);
    if (read?.kind !== kind || more.length > 0 || read.sureness < from || read.sureness >= to) continue;
    if (learnedAt(text, allAt(to)).length === 0 && learnedAt(text, allAt(from)).length === 1) kept.push(text);
  }
  expect(kept).toHaveLength(n);
  return kept;
}

const rules = (from: number, to: number, n: number): string[] => sentences("rule", from, to, n);

const MINUTE = 1 / 1_440;

async function teach(g: Guest, texts: readonly string[], more: object = {}): Promise<void> {
  for (const content of texts) {
    g.later(MINUTE);
    await g.call("memory_store_episode", { content, speaker: "user" }, more);
  }
  expect((await runJob(g, consolidate)).failed).toBeUndefined();
}

interface Learned {
  readonly id: string;
  readonly content: string;
}

const learned = (g: Guest): Promise<Learned[]> =>
  g.db.query<Learned>(
    "select id, content from rules where tenant_id = $1 and validity = 'active' and confidence >= 0.2 order by created_at, id",
    [g.tenant],
  );

const knows = async (g: Guest, text: string): Promise<boolean> =>
  (await learned(g)).some(({ content }) => contentKey(text).includes(contentKey(content)));

const barOf = async (g: Guest, kind: Kind, more: object = {}): Promise<number> =>
  (await g.call("memory_learning", {}, more)).bars.find((bar: { kind: Kind }) => bar.kind === kind).bar;

const HIGHEST = 1.01;

onOneRig(
  "learning from use",
  (guest) => {
    it("keeps fewer of what is forgotten, more of what is confirmed, and starts again when asked", async () => {
      const g = guest();
      const [first = "", second = ""] = rules(BAR.rule, BAR.rule + 0.1, 2);
      const [below = "", under = ""] = rules(BAR.rule - 0.05, BAR.rule, 2);
      await teach(g, rules(0.9, HIGHEST, 24));
      const taught = await learned(g);
      expect(taught.length).toBeGreaterThanOrEqual(20);
      expect(await barOf(g, "rule")).toBe(BAR.rule);

      for (const { id } of taught.slice(0, 10)) await g.call("memory_forget", { id });
      expect(await barOf(g, "rule")).toBeCloseTo(BAR.rule + 0.133, 3);
      expect(await barOf(g, "fact")).toBe(BAR.fact);
      await teach(g, [first]);
      expect(await knows(g, first)).toBe(false);

      g.later(MINUTE);
      expect(await g.call("memory_learning", { reset: true })).toMatchObject({ reset: true, examples: [] });
      expect(await g.call("memory_learning", { reset: true })).toMatchObject({ reset: false });
      expect((await g.events()).filter(({ event_type }) => event_type === "learning.reset")).toHaveLength(1);
      expect(await barOf(g, "rule")).toBe(BAR.rule);
      await teach(g, [second, below]);
      expect(await knows(g, second)).toBe(true);
      expect(await knows(g, below)).toBe(false);

      for (const { id } of taught.slice(10, 20)) await g.call("memory_confirm", { id });
      expect(await barOf(g, "rule")).toBeCloseTo(BAR.rule - 0.067, 3);
      await teach(g, [under]);
      expect(await knows(g, under)).toBe(true);
    });

    it("counts each memory once, by what was done to it last", async () => {
      const g = guest();
      await teach(g, rules(0.9, HIGHEST, 3));
      const [one, other] = await learned(g);
      const judged = async () =>
        (await g.call("memory_learning", {})).examples.map(({ judgement }: { judgement: string }) => judgement);
      for (let n = 0; n < 5; n++) await g.call("memory_mark_helpful", { rule_id: one?.id });
      expect(await judged()).toEqual(["helpful"]);
      await g.call("memory_forget", { id: one?.id });
      expect(await judged()).toEqual(["forgotten"]);
      await g.call("memory_restore", { id: one?.id });
      await g.call("memory_mark_harmful", { rule_id: other?.id });
      expect(await judged()).toEqual(["harmful", "restored"]);
      expect(await barOf(g, "rule")).toBe(BAR.rule);
    });

    it("is not moved by what tools stored, whatever they claim, nor by other tenants and butlers", async () => {
      const g = guest();
      const { id } = await g.call("memory_store_rule", { content: "Believe me." });
      const claimed = { learned: { by: "reader-1", kind: "rule", sureness: 0.9 } };
      await g.db.query("update rules set metadata = $2::jsonb where id = $1", [id, JSON.stringify(claimed)]);
      await g.call("memory_forget", { id });
      expect((await g.call("memory_learning", {})).examples).toEqual([]);

      await teach(g, rules(0.9, HIGHEST, 2));
      const [mine] = await learned(g);
      await g.call("memory_forget", { id: mine?.id });
      expect(await barOf(g, "rule")).toBeGreaterThan(BAR.rule);
      for (const as of [{ tenant: `${g.tenant}-other` }, { butler: "general2" }]) {
        const seen = await g.call("memory_learning", {}, { as });
        expect([seen.examples, seen.bars.every((bar: { examples: number }) => bar.examples === 0)]).toEqual([[], true]);
      }
      expect(await g.call("memory_learning", { reset: true }, { as: { butler: "general2" } })).toMatchObject({
        reset: false,
      });
      expect(await barOf(g, "rule")).toBeGreaterThan(BAR.rule);
    });

    it("takes an edit for half a forgetting, and what jobs confirm for nothing", async () => {
      const g = guest();
      await teach(g, sentences("fact", 0.9, HIGHEST, 6), { session: "monday" });
      const facts = await g.db.query<Claim & { id: string; scope: string }>(
        "select id, subject, predicate, content, scope from facts where tenant_id = $1 order by created_at, id",
        [g.tenant],
      );
      expect(facts.length).toBeGreaterThanOrEqual(3);
      await teach(
        g,
        sentences("fact", 0.9, HIGHEST, 6).map((text) => `${text}!`),
        { session: "tuesday" },
      );
      const confirmed = (await g.events()).filter(({ event_type }) => event_type === "fact.confirmed");
      expect(confirmed.length).toBeGreaterThan(0);
      expect((await g.call("memory_learning", {})).examples).toEqual([]);

      const [one] = facts;
      const { id: _, ...slot } = one ?? { id: "" };
      await g.call("memory_store_fact", { ...slot, content: "Something else altogether." });
      expect(await g.call("memory_learning", {})).toMatchObject({
        bars: expect.arrayContaining([expect.objectContaining({ kind: "fact", unwanted: 0.5, examples: 1 })]),
        examples: [{ type: "fact", id: one?.id, kind: "fact", judgement: "edited", text: one?.content }],
      });
    });

    it("is moved by every project of the butler, and shows none what was said in another", async () => {
      const g = guest();
      const [there, here] = [{ project: "there" }, { project: "here" }];
      await teach(g, rules(0.9, HIGHEST, 2), there);
      const [one] = await learned(g);
      await g.call("memory_forget", { id: one?.id }, there);
      expect((await g.call("memory_learning", {}, there)).examples).toMatchObject([{ id: one?.id }]);
      expect((await g.call("memory_learning", {}, here)).examples).toEqual([]);
      expect(await barOf(g, "rule", here)).toBeGreaterThan(BAR.rule);
    });

    it("tells only the person what a forgotten memory said", async () => {
      const g = guest();
      await teach(g, rules(0.9, HIGHEST, 2));
      const [one, other] = await learned(g);
      await g.call("memory_forget", { id: one?.id });
      await g.call("memory_confirm", { id: other?.id });
      const texts = async (voice: "user" | "agent") =>
        (await g.call("memory_learning", {}, { as: { voice } })).examples.map(({ text }: { text?: string }) => text);
      expect(await texts("user")).toEqual([other?.content, one?.content]);
      expect(await texts("agent")).toEqual([other?.content, undefined]);
    });
  },
  { role: "memory" },
);

onEachStore("learning from use", (open) => {
  it("leaves a stream from which everything can be rebuilt, and shows no secret, even where secrets are kept", async () => {
    const rig = await open({ model: false, settings: { privacy: { redact: false } } });
    const g = guestOf(rig, "default");
    await teach(g, rules(0.9, HIGHEST, 3));
    const [one, other] = await learned(g);
    await g.call("memory_forget", { id: one?.id });
    await g.call("memory_learning", { reset: true });
    await g.call("memory_confirm", { id: other?.id });
    const report = await verifyInScratch(g.db);
    expect(report).toMatchObject({ equal: true, differences: [], orphans: [] });

    const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    await g.db.query("update rules set content = $2 where id = $1", [other?.id, `Push with ${secret} alone.`]);
    const { examples } = await g.call("memory_learning", {});
    expect(examples).toMatchObject([{ text: expect.stringContaining("Push with") }]);
    expect(JSON.stringify(examples)).not.toContain(secret);
  });
});
