/** Life follows use: what is read lives on, what is not goes, and nothing that waits to be learned from goes by time. */
import { expect, it } from "vitest";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import { episodeCleanup } from "../../src/engine/memory/keep/episode-cleanup.ts";
import { promote } from "../../src/engine/memory/keep/promote.ts";
import { verifyReplay } from "../../src/engine/memory/past/replay.ts";
import { runJob } from "../support/job-runs.ts";
import { type House, migratedSnapshot, onEachStore } from "../support/stores.ts";

const DAY = 86_400_000;
const store = async (house: House, content: string, tier = "eden") =>
  (await house.call("memory_store", { content, tier })).id as string;
const learned = (house: House) =>
  house.db.query(
    `with learned as (update episodes set consolidation_status = 'consolidated'
       where consolidation_status <> 'consolidated' returning id, tenant_id, butler)
     insert into memory_events (id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor, payload)
     select gen_random_uuid(), tenant_id, butler, butler, 'episode.consolidated', 'episode', id, $1, 'test',
       '{"set": {"consolidation_status": "consolidated"}}' from learned`,
    [house.now],
  );
const read = async (house: House, id: string, extra: Parameters<House["call"]>[2] = {}) => {
  const { memory } = await house.call("memory_get", { id }, extra);
  await house.settled();
  return memory;
};
const found = async (house: House, query: string, more: object = {}) =>
  (await house.call("memory_search", { query, ...more })).results.map((result: { id: string }) => result.id);
const ids = async (house: House) =>
  (await house.db.query<{ id: string }>("select id from episodes order by id")).map(({ id }) => id);
const expiry = async (house: House, id: string) =>
  (await house.db.query<{ expires_at: Date }>("select expires_at from episodes where id = $1", [id]))[0]?.expires_at;
const inDays = (house: House, days: number) => new Date(house.now.getTime() + days * DAY);

async function replaysAlike(house: House): Promise<void> {
  const scratch = await openPglite({ dir: undefined, snapshot: await migratedSnapshot() });
  try {
    expect(await verifyReplay(house.db, scratch)).toMatchObject({ equal: true, differences: [], orphans: [] });
  } finally {
    await scratch.close();
  }
}

onEachStore("life follows use", (open) => {
  it("an eden memory that is read every day outlives its week, and goes a week after the last reading", async () => {
    const house = await open();
    const id = await store(house, "The ferry to the island leaves at nine");
    const unread = await store(house, "The bakery is closed on Mondays");
    await learned(house);
    for (let day = 0; day < 12; day++) {
      house.later(1);
      await read(house, id);
      await runJob(house, episodeCleanup);
      expect(await expiry(house, id)).toEqual(inDays(house, 7));
    }
    expect(await ids(house)).toEqual([id]);
    expect(unread).not.toBe(id);
    // Its vector follows: meaning alone finds it, and that is a reading too.
    house.later(6);
    expect(await found(house, "boat trip in the morning", { mode: "semantic" })).toEqual([id]);
    await house.settled();
    const { memory } = await house.call("memory_get", { id });
    expect(memory.expires_at).toBe(inDays(house, 7).toISOString());
    await house.settled();
    const readAt = house.now;

    house.later(7);
    for (const mode of ["hybrid", "keyword", "semantic"])
      expect(await found(house, "ferry island", { mode })).toEqual([]);
    expect(await house.refused("memory_get", { id })).toMatchObject({ code: "not_found" });
    expect((await house.call("memory_get", { id, as_of: readAt.toISOString() })).memory.expires_at).toBe(
      new Date(readAt.getTime() + 7 * DAY).toISOString(),
    );
    expect(await found(house, "ferry island", { as_of: readAt.toISOString() })).toEqual([id]);
    expect((await runJob(house, episodeCleanup)).counts).toEqual({ expired: 1 });
    expect(await ids(house)).toEqual([]);
    await replaysAlike(house);
  });

  it("a long memory that is read every two months is kept for ever; one that nobody read goes after its year", async () => {
    const house = await open();
    const id = await store(house, "The house has a slate roof", "long");
    const unread = await store(house, "The shed has a tin roof", "long");
    await learned(house);
    for (let month = 0; month < 14; month += 2) {
      house.later(60);
      await read(house, id, { session: `month ${month}` });
      await runJob(house, episodeCleanup);
    }
    expect(await ids(house)).toEqual([id]);
    expect(unread).not.toBe(id);
    house.later(1000);
    await runJob(house, episodeCleanup);
    for (const mode of ["hybrid", "keyword", "semantic"])
      expect(await found(house, "slate roof", { mode })).toEqual([id]);
    expect((await read(house, id)).expires_at).toBe("9999-12-31T23:59:59.999Z");
    await replaysAlike(house);
  });

  it("a full long tier lets go of the never referenced only, the oldest first", async () => {
    const house = await open({ model: false, settings: { long: { max_entries: 1 } } });
    const kept: string[] = [];
    for (let n = 0; n < 4; n++) {
      kept.push(await store(house, `Long note ${n}`, "long"));
      house.later(1);
    }
    await learned(house);
    await read(house, kept[0] as string);
    await read(house, kept[1] as string);
    const report = await runJob(house, episodeCleanup);
    expect(report.counts).toEqual({ evicted: 2 });
    expect(report.notes.join()).toContain("1 over its 1");
    expect(await ids(house)).toEqual(kept.slice(0, 2));
  });

  it("protects what was referenced as often as protection_threshold says, in any tier", async () => {
    const settings = {
      eden: { protection_threshold: 2 },
      mid: { protection_threshold: 3 },
      long: { protection_threshold: 2 },
    };
    const house = await open({ model: false, settings });
    const twice: Record<string, string> = {};
    const once: Record<string, string> = {};
    for (const tier of ["eden", "mid", "long"]) {
      twice[tier] = await store(house, `Twice ${tier}`, tier);
      once[tier] = await store(house, `Once ${tier}`, tier);
      await read(house, twice[tier]);
      await read(house, twice[tier]);
      await read(house, once[tier]);
    }
    await learned(house);
    house.later(366);
    expect((await runJob(house, episodeCleanup)).counts).toEqual({ expired: 4 });
    expect(await ids(house)).toEqual([twice.eden, twice.long].toSorted());
    expect(await found(house, "twice eden", { tier: "eden" })).toEqual([twice.eden]);
    await replaysAlike(house);
  });

  it("a reading never shortens a life, and what is promoted is protected as its new tier says", async () => {
    const house = await open({ model: false });
    const id = await store(house, "The boiler needs a valve", "mid");
    for (let day = 0; day < 10; day++) {
      await read(house, id, { session: `s${day}` });
      house.later(1);
    }
    expect((await runJob(house, promote)).counts).toEqual({ promoted_to_long: 1 });
    expect(await expiry(house, id)).toEqual(new Date("9999-12-31T23:59:59.999Z"));
    house.set("2026-03-05T00:00:00Z");
    await read(house, id);
    expect(await expiry(house, id)).toEqual(new Date("9999-12-31T23:59:59.999Z"));
    await replaysAlike(house);
  });

  it("readers without a session count by who they are and the day", async () => {
    const house = await open({ model: false });
    const [byOne, byTwo, overDays] = [
      await store(house, "Read three times by one token on one day"),
      await store(house, "Read by two tokens on one day"),
      await store(house, "Read by one token on two days"),
    ];
    const as = (name: string) => ({ as: { name: `token:${name}` } });
    for (let n = 0; n < 3; n++) await read(house, byOne, as("a"));
    for (const name of ["a", "b", "b"]) await read(house, byTwo, as(name));
    await read(house, overDays, as("a"));
    house.later(1);
    for (let n = 0; n < 2; n++) await read(house, overDays, as("a"));
    expect((await runJob(house, promote)).counts).toEqual({ promoted_to_mid: 2 });
    expect(await house.db.query("select id from episodes where tier = 'mid' order by id")).toEqual(
      [{ id: byTwo }, { id: overDays }].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
    await replaysAlike(house);
  });
});

onEachStore("what waits to be learned from", (open) => {
  it("is not deleted by time: after the grace it is a dead letter, and stays one for as long again", async () => {
    const house = await open({ settings: { episodes: { unlearned_grace_days: 10 } } });
    const id = await store(house, "The unlearned harbour pilot");
    const forgotten = await store(house, "A forgotten harbour crane");
    await house.call("memory_forget", { id: forgotten });
    house.later(8);
    expect((await runJob(house, episodeCleanup)).counts).toEqual({ expired: 1 });
    expect(await ids(house)).toEqual([id]);
    // Its time is over all the same: no read finds it.
    for (const mode of ["hybrid", "keyword", "semantic"])
      expect(await found(house, "harbour pilot", { mode })).toEqual([]);
    expect((await house.call("memory_stats", {})).episodes).toMatchObject({ total: 0, backlog: 1 });

    house.later(8.9);
    expect((await runJob(house, episodeCleanup)).counts).toEqual({});
    house.later(0.1);
    expect((await runJob(house, episodeCleanup, { dryRun: true })).counts).toEqual({ dead_lettered: 1 });
    expect((await runJob(house, episodeCleanup)).counts).toEqual({ dead_lettered: 1 });
    const [event] = await house.db.query<{ actor: string; payload: { set: object } }>(
      "select actor, payload from memory_events where event_type = 'episode.dead_lettered'",
    );
    expect(event).toMatchObject({
      actor: "job:episode_cleanup",
      payload: { from: "pending", set: { consolidation_status: "dead_letter", next_consolidation_retry_at: null } },
    });
    const { letters } = await house.call("memory_dead_letters", {});
    expect(letters).toMatchObject([{ id, error: expect.stringContaining("within 10 days") }]);
    expect((await house.call("memory_stats", {})).episodes.by_status).toMatchObject({ dead_letter: 1, pending: 0 });
    expect((await runJob(house, episodeCleanup)).changed).toBe(0);
    await replaysAlike(house);

    house.later(10);
    expect((await runJob(house, episodeCleanup)).counts).toEqual({ expired: 1 });
    expect(await ids(house)).toEqual([]);
  });

  it("is a dead letter first, also when nobody has cleaned for long", async () => {
    const house = await open({ model: false });
    const id = await store(house, "The unlearned lighthouse keeper");
    house.later(500);
    expect((await runJob(house, episodeCleanup)).counts).toEqual({ dead_lettered: 1 });
    house.later(29);
    expect((await runJob(house, episodeCleanup)).changed).toBe(0);
    expect((await house.call("memory_dead_letters", { redrive: [id] })).redriven).toEqual([id]);
    expect(await ids(house)).toEqual([id]);
  });
});
