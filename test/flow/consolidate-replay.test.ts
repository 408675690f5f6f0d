/** The stream alone rebuilds what consolidation has written, too. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Material } from "../../src/engine/adapters/extractor/port.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { live, type Step, steps } from "../support/history.ts";
import { runJob } from "../support/job-runs.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { fact, labelled, scripted } from "../support/scripted-extractor.ts";
import { onEachStore } from "../support/stores.ts";
import { onOneRig } from "../support/tenants.ts";

const verify = verifyInScratch;

const word = fc.constantFrom("Berlin", "Hamburg", "Rome");
const someOf = ({ episodes }: Material, n: number) => [episodes[n % episodes.length]?.label ?? "e1"];

/** What a model might say of any batch: some of it good, some of it about things that are not there. */
const reply = fc.record({
  facts: fc.array(
    fc.record({
      ...{
        word,
        at: fc.nat(9),
        scope: fc.constantFrom("global", "own"),
        predicate: fc.constantFrom("lives_in", "home"),
      },
      supersedes: fc.constantFrom(null, null, "f1", "f2"),
      contradicts: fc.constantFrom(null, null, "f1", "f3"),
      valid_to: fc.constantFrom(null, null, "2026-03-20", "2030-01-01"),
    }),
    { maxLength: 4 },
  ),
  rules: fc.array(
    fc.record({ content: fc.constantFrom("Deploy on Friday", "Never deploy on Friday"), at: fc.nat(9) }),
    {
      maxLength: 2,
    },
  ),
  confirmations: fc.array(fc.record({ id: fc.constantFrom("f1", "f2", "r1", "r2"), at: fc.nat(9) }), { maxLength: 2 }),
  trouble: fc.constantFrom(undefined, undefined, undefined, "unavailable" as const, "refused" as const),
});

const lesson = reply.map(
  ({ trouble, facts, rules, confirmations }): Step =>
    async ({ memory, now }) => {
      const { extractor } = scripted(
        (m) =>
          trouble ?? {
            facts: facts.map(({ word: town, at, predicate, ...more }) =>
              fact(predicate, `The user lives in ${town}.`, someOf(m, at), more),
            ),
            rules: rules.map(({ content, at }) => ({ content, episodes: someOf(m, at) })),
            confirmations: confirmations.map(({ id, at }) => ({ id, episodes: someOf(m, at) })),
          },
      );
      const taught: typeof memory = Object.create(memory, { extractor: { value: extractor } });
      await consolidate.run({ memory: taught, now, dryRun: false, interrupted: () => false });
    },
);

const told = fc.tuple(word, fc.constantFrom("user", "assistant", "tool"), fc.nat(99)).map(
  ([town, speaker, n]): Step =>
    async (life) =>
      void (await life.outcome("memory_store_episode", { content: `I live in ${town}, ${n}`, speaker })),
);

/** What the drawn lives must have met, or they prove little. */
const MET = [
  ...["stored", "superseded", "confirmed", "contradicted"].map((kind) => `fact.${kind}`),
  ...["rule.stored", "rule.confirmed", "rule.contradicted", "consolidation.done", "consolidation.failed"],
  ...["consolidation_attempted", "consolidated", "consolidation_failed"].map((kind) => `episode.${kind}`),
];

onOneRig(
  "replay of lives with consolidation",
  (guest) => {
    it("equals the rows, whatever was learned in whatever order", async () => {
      const met = new Set<string>();
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(steps(1), told, told, lesson), { minLength: 50, maxLength: 50 }),
          async (drawn) => {
            const g = guest();
            await live(
              g,
              drawn.flatMap(([ordinary, ...rest]) => [...ordinary, ...rest]),
            );
            const report = await verify(g.db);
            expect([report.differences, report.orphans]).toEqual([[], []]);
            expect(report.equal).toBe(true);
            for (const { event_type } of await g.events()) met.add(event_type);
          },
        ),
        { numRuns: 2, seed: 20260301, endOnFailure: true },
      );
      expect([...met]).toEqual(expect.arrayContaining(MET));
    });
  },
  { model: false },
);

onEachStore("replay of an old store", (open) => {
  it("knows who said what in rows from before that was written down", async () => {
    const rig = await open({ model: false });
    const agent = { as: { voice: "agent" } } as const;
    const rome = { subject: "user", predicate: "lives_in", content: "The user lives in Rome.", scope: "general" };
    await rig.call("memory_store_episode", { content: "I live in Rome" }, agent);
    await rig.call("memory_store_fact", rome, agent);
    await rig.call("memory_store_rule", { content: "Deploy on Friday" }, agent);
    // The stream refuses to be changed, so its guards look away for once.
    await rig.db.tx(async (sql) => {
      await sql.query("set local session_replication_role = replica");
      await sql.query("update memory_events set payload = payload #- '{row,trust}'");
    });
    expect(await rig.db.query("select 1 as one from memory_events where payload->'row' ? 'trust'")).toEqual([]);
    expect(await verify(rig.db)).toMatchObject({ equal: true, differences: [], orphans: [] });

    // Learning goes on from there.
    rig.later(1);
    await rig.call("memory_store_episode", { content: "I live in Graz", speaker: "user" });
    const { extractor } = scripted((m) => ({
      facts: [fact("lives_in", "The user lives in Graz.", [labelled(m, "Graz")])],
    }));
    expect((await runJob(rig, consolidate, { extractor })).counts).toMatchObject({ facts_superseded: 1 });
    expect(await verify(rig.db)).toMatchObject({ equal: true, differences: [], orphans: [] });
  });
});
