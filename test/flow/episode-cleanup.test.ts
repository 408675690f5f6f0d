import { expect, it } from "vitest";
import { episodeCleanup } from "../../src/engine/memory/keep/episode-cleanup.ts";
import { verifyLexical } from "../../src/engine/store/index/lexical-check.ts";
import { dump, likeness, runJob } from "../support/job-runs.ts";
import { type House, onEachStore } from "../support/stores.ts";

type Tier = "eden" | "mid" | "long";
const store = async (house: House, content: string, tier: Tier = "eden", tenant = "default") =>
  (await house.call("memory_store", { content, tier }, { as: { tenant } })).id as string;
const consolidate = (house: House, ids: readonly string[], status = "consolidated") =>
  house.db.query("update episodes set consolidation_status = $2 where id = any($1::uuid[])", [ids, status]);
const alive = async (house: House) =>
  (await house.db.query<{ content: string }>("select content from episodes order by content")).map((r) => r.content);
const deletions = (house: House) =>
  house.db.query<{ entity_id: string; payload: Record<string, unknown>; actor: string; scope: string }>(
    "select entity_id, payload, actor, scope from memory_events where event_type = 'episode.deleted' order by seq",
  );
const small = { episodes: { max_entries: 3 }, mid: { max_entries: 2 }, long: { max_entries: 2 } };

onEachStore("episode cleanup", (open) => {
  it("deletes what has expired with all that belongs to it, forgotten or not, and nothing else", async () => {
    const house = await open();
    const old = await store(house, "The old harbour crane");
    const forgotten = await store(house, "The forgotten harbour pilot");
    const lasting = await store(house, "The lasting harbour wall", "mid");
    await house.call("memory_search", { query: "harbour" }, { session: "s1" });
    await house.settled();
    await house.call("memory_forget", { id: forgotten });
    await consolidate(house, [old]);
    house.later(7 - 1 / 86_400);
    expect((await runJob(house, episodeCleanup)).changed).toBe(0);
    house.later(1 / 86_400);

    const before = await dump(house.db);
    expect((await runJob(house, episodeCleanup, { dryRun: true })).counts).toEqual({ expired: 2 });
    expect(await dump(house.db)).toEqual(before);
    expect(await runJob(house, episodeCleanup)).toEqual({
      changed: 2,
      counts: { expired: 2 },
      notes: [],
      complete: true,
    });

    for (const [table, column] of [
      ["episodes", "id"],
      ["embeddings", "memory_id"],
      ["lex_doc", "memory_id"],
      ["episode_references", "episode_id"],
    ])
      expect(await house.db.query(`select distinct ${column} as id from ${table}`)).toEqual([{ id: lasting }]);
    const told = await deletions(house);
    expect(told.map((e) => e.entity_id).toSorted()).toEqual([old, forgotten].toSorted());
    expect(told[0]).toMatchObject({
      actor: "job:episode_cleanup",
      scope: "general",
      payload: { why: "expired", tier: "eden", expires_at: house.now.toISOString() },
    });
    expect(await verifyLexical(house.db)).toEqual([]);
    const after = await dump(house.db);
    expect((await runJob(house, episodeCleanup)).changed).toBe(0);
    expect(await dump(house.db)).toEqual(after);
  });

  it("never deletes what is not consolidated and not expired, however crowded it is", async () => {
    const house = await open({ model: false, settings: small });
    const ids: string[] = [];
    for (let n = 0; n < 9; n++) ids.push(await store(house, `Unlearned ${n}`));
    await consolidate(house, ids.slice(0, 1), "failed");
    await consolidate(house, ids.slice(1, 2), "dead_letter");
    house.later(6);
    const report = await runJob(house, episodeCleanup);
    expect(report).toMatchObject({ changed: 0, complete: true });
    expect(report.notes[0]).toContain("eden of default/general is 6 over its 3");
    expect(await alive(house)).toHaveLength(9);
  });

  it("makes room with the consolidated that nobody has needed for longest", async () => {
    const house = await open({ model: false, settings: small });
    const ids: Record<string, string> = {};
    for (const name of ["a", "b", "c", "d", "e", "f"]) {
      ids[name] = await store(house, `Note ${name}`);
      house.later(0.01);
    }
    await consolidate(
      house,
      ["a", "b", "c", "f"].map((name) => ids[name] as string),
    );
    await house.call("memory_get", { id: ids.a });
    await house.settled();
    house.later(0.01);
    expect((await runJob(house, episodeCleanup, { dryRun: true })).counts).toEqual({ evicted: 3 });
    expect((await runJob(house, episodeCleanup)).counts).toEqual({ evicted: 3 });
    // b and c are the oldest; f came later than both, but a was read after f was written.
    expect((await deletions(house)).map((e) => e.entity_id)).toEqual([ids.b, ids.c, ids.f]);
    expect((await deletions(house))[0]?.payload).toEqual({
      why: "capacity",
      tier: "eden",
      entries: 6,
      capacity: 3,
      last_referenced_at: null,
      reference_count: 0,
    });
    expect(await alive(house)).toEqual(["Note a", "Note d", "Note e"]);
    expect((await runJob(house, episodeCleanup)).changed).toBe(0);
  });

  it("mid lets go of the least recently referenced; long only of what was never referenced", async () => {
    const house = await open({ model: false, settings: small });
    const tiers: Record<string, string[]> = { mid: [], long: [] };
    for (const tier of ["mid", "long"] as const)
      for (let n = 0; n < 4; n++) {
        tiers[tier]?.push(await store(house, `${tier} ${n}`, tier));
        house.later(0.01);
      }
    const [mid = [], long = []] = [tiers.mid, tiers.long];
    await consolidate(house, [...mid, ...long]);
    for (const id of [mid[1], mid[0], mid[3], mid[2], long[0], long[1], long[3]]) {
      await house.call("memory_get", { id });
      await house.settled();
      house.later(0.01);
    }
    expect((await runJob(house, episodeCleanup)).counts).toEqual({ evicted: 3 });
    expect(await alive(house)).toEqual(["long 0", "long 1", "long 3", "mid 2", "mid 3"]);
  });

  it("counts capacity for each tenant and butler by itself", async () => {
    const house = await open({ model: false, settings: small });
    for (const tenant of ["a", "b"]) for (let n = 0; n < 3; n++) await store(house, `Note ${n}`, "eden", tenant);
    await house.db.query("update episodes set consolidation_status = 'consolidated'");
    expect((await runJob(house, episodeCleanup)).changed).toBe(0);
    await store(house, "One more", "eden", "b");
    expect((await runJob(house, episodeCleanup)).counts).toEqual({ evicted: 1 });
    expect(await deletions(house)).toHaveLength(1);
  });

  it("interrupted anywhere and run again, it ends as if it had not been", async () => {
    const live = async () => {
      const house = await open({ model: false, settings: { ...small, episodes: { max_entries: 50 } } });
      const episodes = (words: string, n: number) => ({
        episodes: Array.from({ length: n }, (_, i) => ({ content: `${words} ${i}` })),
      });
      await house.call("memory_ingest_batch", episodes("Soon over", 100));
      await house.call("memory_ingest_batch", episodes("Soon over too", 30));
      house.later(5);
      await house.call("memory_ingest_batch", episodes("Crowded", 70));
      for (let n = 0; n < 4; n++) await store(house, `mid ${n}`, "mid");
      await house.db.query("update episodes set consolidation_status = 'consolidated'");
      house.later(2);
      return house;
    };
    const straight = await live();
    expect((await runJob(straight, episodeCleanup)).counts).toEqual({ expired: 130, evicted: 22 });
    const halting = await live();
    expect(await runJob(halting, episodeCleanup, { stopAfter: 0 })).toMatchObject({ changed: 0, complete: false });
    let changed = 0;
    for (let stopAfter = 1; stopAfter < 5; stopAfter++)
      changed += (await runJob(halting, episodeCleanup, { stopAfter })).changed;
    changed += (await runJob(halting, episodeCleanup)).changed;
    expect(changed).toBe(152);
    expect(await likeness(halting.db)).toEqual(await likeness(straight.db));
    expect(await verifyLexical(halting.db)).toEqual([]);
  });
});
