import { expect, it } from "vitest";
import { decaySweep } from "../../src/engine/memory/keep/decay-sweep.ts";
import { episodeCleanup } from "../../src/engine/memory/keep/episode-cleanup.ts";
import { promote } from "../../src/engine/memory/keep/promote.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { verifyLexical } from "../../src/engine/store/index/lexical-check.ts";
import { runJob } from "../support/job-runs.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const found = async (rig: Rig, asked: object) =>
  (await rig.call("memory_search", { query: "orchard apples", ...asked })).results.map((r: { id: string }) => r.id);
const tiers = async (rig: Rig) => (await rig.call("memory_stats", {})).episodes.by_tier;

onEachStore("generations", (open) => {
  it("what keeps being asked for climbs from eden to long, and the rest goes", async () => {
    const rig = await open();
    const keep = (content: string, tags: string[]) =>
      rig.call("memory_store", { content, tags }).then((answer) => answer.id as string);
    const wanted = await keep("The orchard apples are picked in September", ["garden", "autumn"]);
    const idle = await keep("The orchard apples were counted twice", ["garden"]);
    await rig.db.query("update episodes set consolidation_status = 'consolidated'");
    const jobs = async () => {
      for (const job of [promote, decaySweep, episodeCleanup]) await runJob(rig, job);
    };
    expect(await tiers(rig)).toEqual({ eden: 2, mid: 0, long: 0 });

    for (const session of ["mon", "tue", "wed"]) await rig.call("memory_get", { id: wanted }, { session });
    rig.later(1);
    await jobs();
    expect(await tiers(rig)).toEqual({ eden: 1, mid: 1, long: 0 });
    expect(await found(rig, { tier: "mid" })).toEqual([wanted]);
    expect(await found(rig, { tier: "eden" })).toEqual([idle]);
    expect(await found(rig, { tags: ["garden"] })).toEqual(expect.arrayContaining([wanted, idle]));
    expect(await found(rig, { tags: ["autumn"], tier: "mid" })).toEqual([wanted]);
    expect(await found(rig, { tags: ["autumn"], tier: "eden" })).toEqual([]);

    for (let day = 0; day < 7; day++) {
      await rig.call("memory_get", { id: wanted }, { session: `day${day}` });
      rig.later(1);
    }
    await jobs();
    expect(await tiers(rig)).toEqual({ eden: 0, mid: 0, long: 1 });
    expect(await rig.db.query("select id from episodes")).toEqual([{ id: wanted }]);
    expect(await found(rig, { tier: "long", tags: ["garden"] })).toEqual([wanted]);

    // Long evicts only what was never referenced.
    rig.later(1000);
    await jobs();
    expect(await found(rig, {})).toEqual([wanted]);
    expect(await tiers(rig)).toEqual({ eden: 0, mid: 0, long: 1 });

    const told = await rig.db.query<{ event_type: string }>(
      `select event_type from memory_events where entity_id = $1 order by seq`,
      [wanted],
    );
    expect(told.map((e) => e.event_type)).toEqual(["episode.stored", "episode.promoted", "episode.promoted"]);
    expect(await verifyLexical(rig.db)).toEqual([]);
    expect(await rig.db.query("select distinct episode_id as id from episode_references")).toEqual([{ id: wanted }]);
  });

  it("the stream alone rebuilds what the jobs have made of a memory", async () => {
    const lenient = { rules: { harmful_to_antipattern: { min_harmful: 50 } }, episodes: { max_entries: 2 } };
    const rig = await open({ model: false, settings: lenient });
    const note = async (content: string, tier = "eden") =>
      (await rig.call("memory_store", { content, tier })).id as string;
    const rising = await note("Always label the seed trays", "mid");
    const young = await note("The greenhouse door sticks");
    for (const permanence of ["volatile", "ephemeral", "stable"])
      await rig.call("memory_store_fact", { subject: permanence, predicate: "p", content: "v", permanence });
    await rig.call("memory_store_episode", { content: "Frost killed the seedlings", session_id: "s1" });
    const { id: rule } = await rig.call("memory_store_rule", { content: "Leave the greenhouse open" });
    const { id: good } = await rig.call("memory_store_rule", { content: "Close the greenhouse at night" });
    for (let n = 0; n < 15; n++) await rig.call("memory_mark_helpful", { rule_id: good });
    for (const session_id of ["s1", "s2", "s3"])
      await rig.call("memory_mark_harmful", { rule_id: rule, session_id, reason: "frost" });
    for (let day = 0; day < 4; day++) {
      for (let n = 0; n < 3; n++) await rig.call("memory_get", { id: rising }, { session: `s${n}` });
      await rig.call("memory_get", { id: young }, { session: `s${day}` });
      await rig.settled();
      rig.later(1);
    }
    const settings = Settings.parse({ episodes: { max_entries: 2 } });
    const jobs = async () => {
      for (const job of [promote, decaySweep, episodeCleanup]) await runJob(rig, job, { settings });
    };
    for (const days of [0.1, 4, 26, 21, 70]) {
      rig.later(days);
      for (let n = 0; n < 3; n++) await note(`Passing thought ${n} of ${rig.now.toISOString()}`);
      await rig.db.query("update episodes set consolidation_status = 'consolidated'");
      await jobs();
    }
    await rig.db.query("update episodes set consolidation_status = 'pending'");
    const kinds = await rig.db.query<{ event_type: string }>(
      "select distinct event_type from memory_events where actor like 'job:%' order by 1",
    );
    expect(kinds.map((e) => e.event_type)).toEqual([
      "episode.deleted",
      "episode.promoted",
      "fact.expired",
      "fact.faded",
      "rule.faded",
      "rule.inverted",
      "rule.promoted",
      "rule.stored",
    ]);
    const report = await verifyInScratch(rig.db);
    expect(report.differences).toEqual([]);
  });
});
