/** Only what fits is found, and only what fits what was asked is a reference. */
import { expect, it } from "vitest";
import { promote } from "../../src/engine/memory/keep/promote.ts";
import { runJob } from "../support/job-runs.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const GARDEN = [
  "The tomatoes in the greenhouse are watered every morning",
  "The apple trees were pruned in February",
  "Compost is turned over every second Saturday",
  "The hedge along the road is cut in June",
  "Strawberries are covered with a net against birds",
  "The lawn mower needs a new spark plug",
  "Potatoes are planted after the last frost",
  "The rain barrel holds two hundred litres",
  "Roses get fertiliser in April",
  "The beehives stand behind the shed",
];
const ELSEWHERE = [
  "Which encryption algorithm does the TLS handshake negotiate?",
  "Summarise the quarterly revenue of the airline",
  "Explain how the parliament elects its speaker",
];
const MODES = ["hybrid", "keyword", "semantic"] as const;

const plant = async (rig: Rig) => {
  const ids: string[] = [];
  for (const content of GARDEN) ids.push((await rig.call("memory_store", { content })).id);
  return ids;
};
const references = async (rig: Rig) => {
  await rig.settled();
  const rows = await rig.db.query<{ content: string; n: number }>(
    "select content, reference_count as n from episodes where reference_count > 0 order by content",
  );
  return rows.map(({ content, n }) => [content, n]);
};
const found = async (rig: Rig, query: string, more: object = {}) =>
  (await rig.call("memory_search", { query, ...more })).results as { content: string; relevance: number }[];

onEachStore("what fits", (open) => {
  it.each([true, false])("contexts about something else promote nothing (with a model: %s)", async (model) => {
    const rig = await open({ model });
    await plant(rig);
    for (const [n, trigger_prompt] of ELSEWHERE.entries()) {
      await rig.call("memory_context", { trigger_prompt }, { session: `s${n}` });
      await rig.call("memory_search", { query: trigger_prompt }, { session: `s${n}` });
      rig.later(1);
    }
    expect(await references(rig)).toEqual([]);
    expect((await runJob(rig, promote)).changed).toBe(0);

    for (const session of ["a", "b", "c"])
      await rig.call("memory_context", { trigger_prompt: "When are the apple trees pruned?" }, { session });
    expect(await references(rig)).toEqual([[GARDEN[1], 3]]);
    rig.later(1);
    expect((await runJob(rig, promote)).counts).toEqual({ promoted_to_mid: 1 });
  });

  it("what is always shown is referenced only when it fits", async () => {
    const rig = await open();
    const { id } = await rig.call("memory_store_fact", {
      ...{ subject: "user", predicate: "allergy", content: "Allergic to peanuts" },
      ...{ permanence: "permanent", importance: 10 },
    });
    const counted = async () => {
      await rig.settled();
      return (await rig.db.query<{ n: number }>("select reference_count as n from facts where id = $1", [id]))[0]?.n;
    };
    const { text } = await rig.call("memory_context", { trigger_prompt: ELSEWHERE[0] });
    expect([text.includes("peanuts"), await counted()]).toEqual([true, 0]);
    await rig.call("memory_context", { trigger_prompt: "Is the user allergic to peanuts?" });
    expect(await counted()).toBe(1);
  });

  it.each([true, false])("a search finds nothing where there is nothing to find (with a model: %s)", async (model) => {
    const rig = await open({ model });
    await plant(rig);
    for (const mode of MODES) {
      const strays: string[] = [];
      for (const query of ELSEWHERE) for (const { content } of await found(rig, query, { mode })) strays.push(content);
      // Thirty are looked at; a model sees some likeness in anything, and not the same on every processor.
      expect(strays.length, `${mode}: ${strays.join(", ")}`).toBeLessThanOrEqual(model && mode !== "keyword" ? 2 : 0);
      const [first] = await found(rig, "when are the apple trees pruned", { mode });
      expect(first?.content).toBe(GARDEN[1]);
    }
    if (model) expect((await found(rig, ELSEWHERE[0] as string, { min_relevance: 0 })).length).toBe(GARDEN.length);
  });

  it("min_relevance holds what is returned to it, as an argument and in the configuration", async () => {
    const rig = await open();
    await plant(rig);
    const query = "watering tomatoes and strawberries";
    for (const mode of MODES)
      for (const min_relevance of [0.3, 0.6, 0.9])
        for (const { relevance } of await found(rig, query, { mode, min_relevance }))
          expect(relevance).toBeGreaterThanOrEqual(min_relevance);
    const all = await found(rig, query, { min_relevance: 0 });
    expect(all.length).toBeGreaterThan((await found(rig, query)).length);
    expect((await rig.call("memory_recall", { topic: query })).results).toEqual([]);

    const lenient = await open({ settings: { retrieval: { min_relevance: 0 } } });
    await plant(lenient);
    expect(await found(lenient, query)).toHaveLength(all.length);
  });

  it("why names the floor", async () => {
    const rig = await open();
    const [tomatoes] = await plant(rig);
    const why = (more: object) => rig.call("memory_why", { id: tomatoes, query: ELSEWHERE[0], ...more });
    const kept = await why({});
    expect(kept).toMatchObject({ shown: false, verdict: expect.stringContaining("min_relevance is 0.200") });
    expect(kept.steps.at(-1)).toMatchObject({ check: "relevance", ok: false });
    expect((await why({ min_relevance: 0 })).shown).toBe(true);
  });
});
