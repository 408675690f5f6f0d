import { expect, it } from "vitest";
import { decaySweep } from "../../src/memory/decay-sweep.ts";
import { episodeCleanup } from "../../src/memory/episode-cleanup.ts";
import { promote } from "../../src/memory/promote.ts";
import { verifyLexical } from "../../src/store/lexical-check.ts";
import { runJob } from "../support/job-runs.ts";
import { type House, onEachStore } from "../support/stores.ts";

const found = async (house: House, asked: object) =>
  (await house.call("memory_search", { query: "orchard apples", ...asked })).results.map((r: { id: string }) => r.id);
const tiers = async (house: House) => (await house.call("memory_stats", {})).episodes.by_tier;

onEachStore("generations", (open) => {
  it("what keeps being asked for climbs from eden to long, and the rest goes", async () => {
    const house = await open();
    const keep = (content: string, tags: string[]) =>
      house.call("memory_store", { content, tags }).then((answer) => answer.id as string);
    const wanted = await keep("The orchard apples are picked in September", ["garden", "autumn"]);
    const idle = await keep("The orchard apples were counted twice", ["garden"]);
    const jobs = async () => {
      for (const job of [promote, decaySweep, episodeCleanup]) await runJob(house, job);
    };
    expect(await tiers(house)).toEqual({ eden: 2, mid: 0, long: 0 });

    for (const session of ["mon", "tue", "wed"]) await house.call("memory_get", { id: wanted }, { session });
    house.later(1);
    await jobs();
    expect(await tiers(house)).toEqual({ eden: 1, mid: 1, long: 0 });
    expect(await found(house, { tier: "mid" })).toEqual([wanted]);
    expect(await found(house, { tier: "eden" })).toEqual([idle]);
    expect(await found(house, { tags: ["garden"] })).toEqual(expect.arrayContaining([wanted, idle]));
    expect(await found(house, { tags: ["autumn"], tier: "mid" })).toEqual([wanted]);
    expect(await found(house, { tags: ["autumn"], tier: "eden" })).toEqual([]);

    for (let day = 0; day < 7; day++) {
      await house.call("memory_get", { id: wanted }, { session: `day${day}` });
      house.later(1);
    }
    await jobs();
    expect(await tiers(house)).toEqual({ eden: 0, mid: 0, long: 1 });
    expect(await house.db.query("select id from episodes")).toEqual([{ id: wanted }]);
    expect(await found(house, { tier: "long", tags: ["garden"] })).toEqual([wanted]);

    house.later(364);
    await jobs();
    expect(await found(house, {})).toEqual([wanted]);
    house.later(1);
    expect(await found(house, {})).toEqual([]);
    await jobs();
    expect(await tiers(house)).toEqual({ eden: 0, mid: 0, long: 0 });

    const told = await house.db.query<{ event_type: string }>(
      `select event_type from memory_events where entity_id = $1 order by seq`,
      [wanted],
    );
    expect(told.map((e) => e.event_type)).toEqual([
      "episode.stored",
      "episode.promoted",
      "episode.promoted",
      "episode.deleted",
    ]);
    expect(await verifyLexical(house.db)).toEqual([]);
    expect(await house.db.query("select 1 from episode_references")).toEqual([]);
  });
});
