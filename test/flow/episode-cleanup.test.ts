import { expect, it } from "vitest";
import { episodeCleanup } from "../../src/engine/memory/keep/episode-cleanup.ts";
import { verifyLexical } from "../../src/engine/store/index/lexical-check.ts";
import { dump, likeness, runJob } from "../support/job-runs.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

type Tier = "eden" | "mid" | "long";
const store = async (rig: Rig, content: string, tier: Tier = "eden", tenant = "default") =>
  (await rig.call("memory_store", { content, tier }, { as: { tenant } })).id as string;
const consolidate = (rig: Rig, ids: readonly string[], status = "consolidated") =>
  rig.db.query("update episodes set consolidation_status = $2 where id = any($1::uuid[])", [ids, status]);
const alive = async (rig: Rig) =>
  (await rig.db.query<{ content: string }>("select content from episodes order by content")).map((r) => r.content);
const deletions = (rig: Rig) =>
  rig.db.query<{ entity_id: string; payload: Record<string, unknown>; actor: string; scope: string }>(
    "select entity_id, payload, actor, scope from memory_events where event_type = 'episode.deleted' order by seq",
  );
const small = { episodes: { max_entries: 3 }, mid: { max_entries: 2 }, long: { max_entries: 2 } };

onEachStore("episode cleanup", (open) => {
  it("deletes what has expired with all that belongs to it, forgotten or not, and nothing else", async () => {
    const rig = await open();
    const old = await store(rig, "The old harbour crane");
    const forgotten = await store(rig, "The forgotten harbour pilot");
    const lasting = await store(rig, "The lasting harbour wall", "mid");
    await rig.call("memory_search", { query: "harbour" }, { session: "s1" });
    await rig.settled();
    await rig.call("memory_forget", { id: forgotten });
    await consolidate(rig, [old]);
    rig.later(7 - 1 / 86_400);
    expect((await runJob(rig, episodeCleanup)).changed).toBe(0);
    rig.later(1 / 86_400);

    const before = await dump(rig.db);
    expect((await runJob(rig, episodeCleanup, { dryRun: true })).counts).toEqual({ expired: 2 });
    expect(await dump(rig.db)).toEqual(before);
    expect(await runJob(rig, episodeCleanup)).toEqual({
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
      expect(await rig.db.query(`select distinct ${column} as id from ${table}`)).toEqual([{ id: lasting }]);
    const told = await deletions(rig);
    expect(told.map((e) => e.entity_id).toSorted()).toEqual([old, forgotten].toSorted());
    expect(told[0]).toMatchObject({
      actor: "job:episode_cleanup",
      scope: "general",
      payload: { why: "expired", tier: "eden", expires_at: rig.now.toISOString() },
    });
    expect(await verifyLexical(rig.db)).toEqual([]);
    const after = await dump(rig.db);
    expect((await runJob(rig, episodeCleanup)).changed).toBe(0);
    expect(await dump(rig.db)).toEqual(after);
  });

  it("never deletes what is not consolidated and not expired, however crowded it is", async () => {
    const rig = await open({ model: false, settings: small });
    const ids: string[] = [];
    for (let n = 0; n < 9; n++) ids.push(await store(rig, `Unlearned ${n}`));
    await consolidate(rig, ids.slice(0, 1), "failed");
    await consolidate(rig, ids.slice(1, 2), "dead_letter");
    rig.later(6);
    const report = await runJob(rig, episodeCleanup);
    expect(report).toMatchObject({ changed: 0, complete: true });
    expect(report.notes[0]).toContain("eden of default/general is 6 over its 3");
    expect(await alive(rig)).toHaveLength(9);
  });

  it("makes room with the consolidated that nobody has needed for longest", async () => {
    const rig = await open({ model: false, settings: small });
    const ids: Record<string, string> = {};
    for (const name of ["a", "b", "c", "d", "e", "f"]) {
      ids[name] = await store(rig, `Note ${name}`);
      rig.later(0.01);
    }
    await consolidate(
      rig,
      ["a", "b", "c", "f"].map((name) => ids[name] as string),
    );
    await rig.call("memory_get", { id: ids.a });
    await rig.settled();
    rig.later(0.01);
    expect((await runJob(rig, episodeCleanup, { dryRun: true })).counts).toEqual({ evicted: 3 });
    expect((await runJob(rig, episodeCleanup)).counts).toEqual({ evicted: 3 });
    // b and c are the oldest; f came later than both, but a was read after f was written.
    expect((await deletions(rig)).map((e) => e.entity_id)).toEqual([ids.b, ids.c, ids.f]);
    expect((await deletions(rig))[0]?.payload).toEqual({
      why: "capacity",
      tier: "eden",
      entries: 6,
      capacity: 3,
      last_referenced_at: null,
      reference_count: 0,
    });
    expect(await alive(rig)).toEqual(["Note a", "Note d", "Note e"]);
    expect((await runJob(rig, episodeCleanup)).changed).toBe(0);
  });

  it("mid lets go of the least recently referenced; long only of what was never referenced", async () => {
    const rig = await open({ model: false, settings: small });
    const tiers: Record<string, string[]> = { mid: [], long: [] };
    for (const tier of ["mid", "long"] as const)
      for (let n = 0; n < 4; n++) {
        tiers[tier]?.push(await store(rig, `${tier} ${n}`, tier));
        rig.later(0.01);
      }
    const [mid = [], long = []] = [tiers.mid, tiers.long];
    await consolidate(rig, [...mid, ...long]);
    for (const id of [mid[1], mid[0], mid[3], mid[2], long[0], long[1], long[3]]) {
      await rig.call("memory_get", { id });
      await rig.settled();
      rig.later(0.01);
    }
    expect((await runJob(rig, episodeCleanup)).counts).toEqual({ evicted: 3 });
    expect(await alive(rig)).toEqual(["long 0", "long 1", "long 3", "mid 2", "mid 3"]);
  });

  it("counts capacity for each tenant and butler by itself", async () => {
    const rig = await open({ model: false, settings: small });
    for (const tenant of ["a", "b"]) for (let n = 0; n < 3; n++) await store(rig, `Note ${n}`, "eden", tenant);
    await rig.db.query("update episodes set consolidation_status = 'consolidated'");
    expect((await runJob(rig, episodeCleanup)).changed).toBe(0);
    await store(rig, "One more", "eden", "b");
    expect((await runJob(rig, episodeCleanup)).counts).toEqual({ evicted: 1 });
    expect(await deletions(rig)).toHaveLength(1);
  });

  it("interrupted anywhere and run again, it ends as if it had not been", async () => {
    const live = async () => {
      const rig = await open({ model: false, settings: { ...small, episodes: { max_entries: 50 } } });
      const episodes = (words: string, n: number) => ({
        episodes: Array.from({ length: n }, (_, i) => ({ content: `${words} ${i}` })),
      });
      await rig.call("memory_ingest_batch", episodes("Soon over", 100));
      await rig.call("memory_ingest_batch", episodes("Soon over too", 30));
      rig.later(5);
      await rig.call("memory_ingest_batch", episodes("Crowded", 70));
      for (let n = 0; n < 4; n++) await store(rig, `mid ${n}`, "mid");
      await rig.db.query("update episodes set consolidation_status = 'consolidated'");
      rig.later(2);
      return rig;
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
