/** Life follows use: what is read lives on, what is not goes, and nothing that waits to be learned from goes by time. */
import { expect, it } from "vitest";
import { episodeCleanup } from "../../src/engine/memory/keep/episode-cleanup.ts";
import { promote } from "../../src/engine/memory/keep/promote.ts";
import { runJob } from "../support/job-runs.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const DAY = 86_400_000;
const store = async (rig: Rig, content: string, tier = "eden") =>
  (await rig.call("memory_store", { content, tier })).id as string;
const learned = (rig: Rig) =>
  rig.db.query(
    `with learned as (update episodes set consolidation_status = 'consolidated'
       where consolidation_status <> 'consolidated' returning id, tenant_id, butler)
     insert into memory_events (id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor, payload)
     select gen_random_uuid(), tenant_id, butler, butler, 'episode.consolidated', 'episode', id, $1, 'test',
       '{"set": {"consolidation_status": "consolidated"}}' from learned`,
    [rig.now],
  );
const read = async (rig: Rig, id: string, extra: Parameters<Rig["call"]>[2] = {}) => {
  const { memory } = await rig.call("memory_get", { id }, extra);
  await rig.settled();
  return memory;
};
const found = async (rig: Rig, query: string, more: object = {}) =>
  (await rig.call("memory_search", { query, ...more })).results.map((result: { id: string }) => result.id);
const ids = async (rig: Rig) =>
  (await rig.db.query<{ id: string }>("select id from episodes order by id")).map(({ id }) => id);
const expiry = async (rig: Rig, id: string) =>
  (await rig.db.query<{ expires_at: Date }>("select expires_at from episodes where id = $1", [id]))[0]?.expires_at;
const inDays = (rig: Rig, days: number) => new Date(rig.now.getTime() + days * DAY);

async function replaysAlike(rig: Rig): Promise<void> {
  const report = await verifyInScratch(rig.db);
  expect(report).toMatchObject({ equal: true, differences: [], orphans: [] });
}

onEachStore("life follows use", (open) => {
  it("an eden memory that is read every day outlives its week, and goes a week after the last reading", async () => {
    const rig = await open();
    const id = await store(rig, "The ferry to the island leaves at nine");
    const unread = await store(rig, "The bakery is closed on Mondays");
    await learned(rig);
    for (let day = 0; day < 12; day++) {
      rig.later(1);
      await read(rig, id);
      await runJob(rig, episodeCleanup);
      expect(await expiry(rig, id)).toEqual(inDays(rig, 7));
    }
    expect(await ids(rig)).toEqual([id]);
    expect(unread).not.toBe(id);
    // Its vector follows: meaning alone finds it, and that is a reading too.
    rig.later(6);
    expect(await found(rig, "boat trip in the morning", { mode: "semantic" })).toEqual([id]);
    await rig.settled();
    const { memory } = await rig.call("memory_get", { id });
    expect(memory.expires_at).toBe(inDays(rig, 7).toISOString());
    await rig.settled();
    const readAt = rig.now;

    rig.later(7);
    for (const mode of ["hybrid", "keyword", "semantic"])
      expect(await found(rig, "ferry island", { mode })).toEqual([]);
    expect(await rig.refused("memory_get", { id })).toMatchObject({ code: "not_found" });
    expect((await rig.call("memory_get", { id, as_of: readAt.toISOString() })).memory.expires_at).toBe(
      new Date(readAt.getTime() + 7 * DAY).toISOString(),
    );
    expect(await found(rig, "ferry island", { as_of: readAt.toISOString() })).toEqual([id]);
    expect((await runJob(rig, episodeCleanup)).counts).toEqual({ expired: 1 });
    expect(await ids(rig)).toEqual([]);
    await replaysAlike(rig);
  });

  it("a long memory that is read every two months is kept for ever; one that nobody read goes after its year", async () => {
    const rig = await open();
    const id = await store(rig, "The house has a slate roof", "long");
    const unread = await store(rig, "The shed has a tin roof", "long");
    await learned(rig);
    for (let month = 0; month < 14; month += 2) {
      rig.later(60);
      await read(rig, id, { session: `month ${month}` });
      await runJob(rig, episodeCleanup);
    }
    expect(await ids(rig)).toEqual([id]);
    expect(unread).not.toBe(id);
    rig.later(1000);
    await runJob(rig, episodeCleanup);
    for (const mode of ["hybrid", "keyword", "semantic"])
      expect(await found(rig, "slate roof", { mode })).toEqual([id]);
    expect((await read(rig, id)).expires_at).toBe("9999-12-31T23:59:59.999Z");
    await replaysAlike(rig);
  });

  it("a full long tier lets go of the never referenced only, the oldest first", async () => {
    const rig = await open({ model: false, settings: { long: { max_entries: 1 } } });
    const kept: string[] = [];
    for (let n = 0; n < 4; n++) {
      kept.push(await store(rig, `Long note ${n}`, "long"));
      rig.later(1);
    }
    await learned(rig);
    await read(rig, kept[0] as string);
    await read(rig, kept[1] as string);
    const report = await runJob(rig, episodeCleanup);
    expect(report.counts).toEqual({ evicted: 2 });
    expect(report.notes.join()).toContain("1 over its 1");
    expect(await ids(rig)).toEqual(kept.slice(0, 2));
  });

  it("protects what was referenced as often as protection_threshold says, in any tier", async () => {
    const settings = {
      eden: { protection_threshold: 2 },
      mid: { protection_threshold: 3 },
      long: { protection_threshold: 2 },
    };
    const rig = await open({ model: false, settings });
    const twice: Record<string, string> = {};
    const once: Record<string, string> = {};
    for (const tier of ["eden", "mid", "long"]) {
      twice[tier] = await store(rig, `Twice ${tier}`, tier);
      once[tier] = await store(rig, `Once ${tier}`, tier);
      await read(rig, twice[tier]);
      await read(rig, twice[tier]);
      await read(rig, once[tier]);
    }
    await learned(rig);
    rig.later(366);
    expect((await runJob(rig, episodeCleanup)).counts).toEqual({ expired: 4 });
    expect(await ids(rig)).toEqual([twice.eden, twice.long].toSorted());
    expect(await found(rig, "twice eden", { tier: "eden" })).toEqual([twice.eden]);
    await replaysAlike(rig);
  });

  it("a reading never shortens a life, and what is promoted is protected as its new tier says", async () => {
    const rig = await open({ model: false });
    const id = await store(rig, "The boiler needs a valve", "mid");
    for (let day = 0; day < 10; day++) {
      await read(rig, id, { session: `s${day}` });
      rig.later(1);
    }
    expect((await runJob(rig, promote)).counts).toEqual({ promoted_to_long: 1 });
    expect(await expiry(rig, id)).toEqual(new Date("9999-12-31T23:59:59.999Z"));
    rig.set("2026-03-05T00:00:00Z");
    await read(rig, id);
    expect(await expiry(rig, id)).toEqual(new Date("9999-12-31T23:59:59.999Z"));
    await replaysAlike(rig);
  });

  it("readers without a session count by who they are and the day", async () => {
    const rig = await open({ model: false });
    const [byOne, byTwo, overDays] = [
      await store(rig, "Read three times by one token on one day"),
      await store(rig, "Read by two tokens on one day"),
      await store(rig, "Read by one token on two days"),
    ];
    const as = (name: string) => ({ as: { name: `token:${name}` } });
    for (let n = 0; n < 3; n++) await read(rig, byOne, as("a"));
    for (const name of ["a", "b", "b"]) await read(rig, byTwo, as(name));
    await read(rig, overDays, as("a"));
    rig.later(1);
    for (let n = 0; n < 2; n++) await read(rig, overDays, as("a"));
    expect((await runJob(rig, promote)).counts).toEqual({ promoted_to_mid: 2 });
    expect(await rig.db.query("select id from episodes where tier = 'mid' order by id")).toEqual(
      [{ id: byTwo }, { id: overDays }].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
    await replaysAlike(rig);
  });
});

onEachStore("what waits to be learned from", (open) => {
  it("is not deleted by time: after the grace it is a dead letter, and stays one for as long again", async () => {
    const rig = await open({ settings: { episodes: { unlearned_grace_days: 10 } } });
    const id = await store(rig, "The unlearned harbour pilot");
    const forgotten = await store(rig, "A forgotten harbour crane");
    await rig.call("memory_forget", { id: forgotten });
    rig.later(8);
    expect((await runJob(rig, episodeCleanup)).counts).toEqual({ expired: 1 });
    expect(await ids(rig)).toEqual([id]);
    // Its time is over all the same: no read finds it.
    for (const mode of ["hybrid", "keyword", "semantic"])
      expect(await found(rig, "harbour pilot", { mode })).toEqual([]);
    expect((await rig.call("memory_stats", {})).episodes).toMatchObject({ total: 0, backlog: 1 });

    rig.later(8.9);
    expect((await runJob(rig, episodeCleanup)).counts).toEqual({});
    rig.later(0.1);
    expect((await runJob(rig, episodeCleanup, { dryRun: true })).counts).toEqual({ dead_lettered: 1 });
    expect((await runJob(rig, episodeCleanup)).counts).toEqual({ dead_lettered: 1 });
    const [event] = await rig.db.query<{ actor: string; payload: { set: object } }>(
      "select actor, payload from memory_events where event_type = 'episode.dead_lettered'",
    );
    expect(event).toMatchObject({
      actor: "job:episode_cleanup",
      payload: { from: "pending", set: { consolidation_status: "dead_letter", next_consolidation_retry_at: null } },
    });
    const { letters } = await rig.call("memory_dead_letters", {});
    expect(letters).toMatchObject([{ id, error: expect.stringContaining("within 10 days") }]);
    expect((await rig.call("memory_stats", {})).episodes.by_status).toMatchObject({ dead_letter: 1, pending: 0 });
    expect((await runJob(rig, episodeCleanup)).changed).toBe(0);
    await replaysAlike(rig);

    rig.later(10);
    expect((await runJob(rig, episodeCleanup)).counts).toEqual({ expired: 1 });
    expect(await ids(rig)).toEqual([]);
  });

  it("is a dead letter first, also when nobody has cleaned for long", async () => {
    const rig = await open({ model: false });
    const id = await store(rig, "The unlearned lighthouse keeper");
    rig.later(500);
    expect((await runJob(rig, episodeCleanup)).counts).toEqual({ dead_lettered: 1 });
    rig.later(29);
    expect((await runJob(rig, episodeCleanup)).changed).toBe(0);
    expect((await rig.call("memory_dead_letters", { redrive: [id] })).redriven).toEqual([id]);
    expect(await ids(rig)).toEqual([id]);
  });
});
