/** Episodes about which no model need be asked are consolidated without one, by themselves. */
import { expect, it } from "vitest";
import { isWorthACall } from "../../src/engine/adapters/extractor/local/worth-a-call.ts";
import type { Extractor, Material } from "../../src/engine/adapters/extractor/port.ts";
import { exchangeText } from "../../src/engine/domain/learning/exchange.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { runJob } from "../support/job-runs.ts";
import { fact, type Reply, scripted } from "../support/scripted-extractor.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const run = async (rig: Rig, answer: (material: Material) => Reply, more: Partial<Extractor> = {}, settings = {}) => {
  const { extractor, seen } = scripted(answer, {
    worthACall: async (turns) => turns.filter(isWorthACall),
    ...more,
  });
  const report = await runJob(rig, consolidate, { extractor, settings: Settings.parse(settings) });
  return { ...report, shown: seen.map(({ episodes }) => episodes.map(({ text }) => text)) };
};
const nothing = () => ({ facts: [], rules: [], confirmations: [] });
const IDLE = "thanks!";
const lines = async (rig: Rig, text: string) =>
  (await rig.db.query<{ line: string }>(`select line from (${text}) as t (line)`)).map(({ line }) => line);
const standing = (rig: Rig) =>
  lines(
    rig,
    `select content || ': ' || consolidation_status || ' ' || consolidation_attempts from episodes order by created_at, id`,
  );
const exchange = (rig: Rig, user: string, agent: string) =>
  rig.call("memory_ingest_batch", {
    episodes: [
      {
        content: exchangeText({ user: [user], agent: [agent], did: ["ran npm test"], failed: [], decided: [] }),
        metadata: { format: "exchange" },
      },
    ],
  });

onEachStore("episodes that are left out", (open) => {
  it("fill no batch: a long backlog of idle words takes one call for the rest of it", async () => {
    const rig = await open({ model: false });
    const told = (content: string) => ({ content, speaker: "user" });
    const idle = Array.from({ length: 450 }, (_, n) => told(`how would a vegan make ${n} meringues?`));
    await rig.call("memory_ingest_batch", { episodes: [told("I live in Graz."), ...idle.slice(0, 249)] });
    await rig.call("memory_ingest_batch", { episodes: [...idle.slice(249), told("I drink tea.")] });
    const { counts, shown, changed } = await run(rig, nothing);
    expect(shown).toEqual([["I live in Graz.", "I drink tea."]]);
    expect(counts).toEqual({ episodes_left_out: 450, episodes_consolidated: 2 });
    expect(changed).toBe(452);
    const runs = "select provider || ' ' || model || ' ' || state from consolidation_runs group by 1 order by 1";
    expect(await lines(rig, runs)).toEqual(["anthropic scripted done", "local reader done"]);
    expect((await run(rig, nothing)).changed).toBe(0);
  });

  it("are judged by what the person said: an agent's words in an exchange are no reason, but are shown along", async () => {
    const rig = await open({ model: false });
    await exchange(rig, "run it again please", "I will. From now on always run the tests before you push.");
    await exchange(rig, "we never use default exports here", "Understood.");
    const { counts, shown } = await run(rig, nothing);
    expect(counts).toMatchObject({ episodes_left_out: 1, episodes_consolidated: 1 });
    expect(shown[0]).toEqual(["we never use default exports here", "Understood.", "ran npm test"]);
  });

  it.each<readonly [string, Reply]>([
    ["is down", "unavailable"],
    ["answers nonsense", "invalid_answer"],
    ["refuses", "refused"],
  ])("do not share the others' fate when the model %s", async (_what, reply) => {
    const rig = await open({ model: false });
    await rig.call("memory_store_episode", { content: "I live in Graz.", speaker: "user" });
    await rig.call("memory_store_episode", { content: IDLE, speaker: "user" });
    const { failed, counts } = await run(rig, () => reply);
    expect(failed).toContain(`scripted: ${reply}`);
    expect(counts.episodes_left_out).toBe(1);
    expect((await standing(rig))[1]).toBe(`${IDLE}: consolidated 1`);
    expect((await standing(rig))[0]).toMatch(reply === "refused" ? /failed 1$/ : /pending [01]$/);
  });

  it("are done with when the day's budget is used up, and cost nothing of it", async () => {
    const rig = await open({ model: false });
    await rig.call("memory_store_episode", { content: IDLE, speaker: "user" });
    await rig.call("memory_store_episode", { content: "I live in Graz.", speaker: "user" });
    const poor = { extractor: { daily_budget_usd: 0.01 } };
    const { notes, shown } = await run(rig, nothing, { ceiling: () => 5 }, poor);
    expect(shown).toEqual([]);
    expect(notes.join(" ")).toContain("Today's budget of $0.01 is used up");
    expect(await standing(rig)).toEqual([`${IDLE}: consolidated 1`, "I live in Graz.: pending 0"]);
  });

  it("are each tenant's own, and what is cited is what was shown", async () => {
    const rig = await open({ model: false });
    await rig.call("memory_store_episode", { content: IDLE, speaker: "user" }, { as: { tenant: "other" } });
    await rig.call("memory_store_episode", { content: IDLE, speaker: "user" });
    await rig.call("memory_store_episode", { content: "I live in Graz.", speaker: "user" });
    const { counts } = await run(rig, () => ({
      facts: [fact("lives_in", "The user lives in Graz.", ["e1"]), fact("says", "The user says thanks.", ["e2"])],
    }));
    expect(counts).toEqual({
      ...{ episodes_left_out: 2, episodes_consolidated: 1, facts_created: 1, dropped_unknown_episode: 1 },
    });
    const cited = "select e.content from memory_links l join episodes e on e.id = l.target_id";
    expect(await lines(rig, cited)).toEqual(["I live in Graz."]);
    const events = `select tenant_id || ' ' || event_type from memory_events where event_type = 'consolidation.done' order by 1`;
    expect(await lines(rig, events)).toEqual([
      ...["default consolidation.done", "default consolidation.done", "other consolidation.done"],
    ]);
  });
});
