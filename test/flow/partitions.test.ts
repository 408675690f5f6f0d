/** A server's large tables in parts: nothing is lost, everything goes on, and the parts are kept by a job. */
import { expect, it } from "vitest";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { PARTED } from "../../src/engine/domain/partitions.ts";
import { partitions } from "../../src/engine/memory/keep/partitions.ts";
import { moveStore } from "../../src/engine/memory/move/move-store.ts";
import { divideStore, planDivision } from "../../src/engine/memory/partitions/divide-store.ts";
import { asOwner, memoryOf } from "../../src/engine/memory/tenancy.ts";
import { readSample, readSizes } from "../../src/engine/store/health/sample.ts";
import { setBoundary } from "../../src/engine/store/partitions/divide.ts";
import { holdings } from "../support/holdings.ts";
import { runJob } from "../support/job-runs.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { migratedSnapshot, onEachStore, type Rig } from "../support/stores.ts";

const as = (tenant: string) => ({ as: { tenant } });
const divideAll = (rig: Rig) => divideStore(rig.db, PARTED, { now: rig.now, tell: () => undefined });

async function furnish(rig: Rig, tenant: string) {
  const said = await rig.call(
    "memory_store_episode",
    { content: `The ${tenant} has a garden.`, session_id: "s" },
    as(tenant),
  );
  const fact = { subject: "garden", predicate: "place", content: tenant, source_episode_id: said.id };
  await rig.call("memory_store_fact", fact, as(tenant));
  const lasting = await rig.call("memory_store", { content: `The ${tenant} gate is green`, tier: "long" }, as(tenant));
  await rig.call("memory_search", { query: "garden" }, as(tenant));
  await rig.settled();
  return { said: said.id as string, lasting: lasting.id as string };
}

const placesOf = async (db: Db, table: string, where: string, params: unknown[]): Promise<string[]> =>
  (
    await db.query<{ part: string }>(
      `select distinct tableoid::regclass::text as part from ${table} where ${where}`,
      params,
    )
  )
    .map(({ part }) => part)
    .toSorted();

onEachStore("tables in parts", (open, store) => {
  if (store === "PGlite") {
    it("an embedded store has none, and its job finds nothing to do", async () => {
      const rig = await open({ model: false });
      expect(await runJob(rig, partitions)).toMatchObject({ changed: 0, complete: true });
    });
    return;
  }

  it("a store that is divided keeps every row, its tenants apart, its stream unchangeable, and goes on", async () => {
    const rig = await open({ model: false });
    const { db, memory } = rig;
    const north = await furnish(rig, "north");
    await furnish(rig, "south");
    const all = async () => [await holdings(db, "north"), await holdings(db, "south")];
    const before = await all();
    const [last] = await db.query<{ seq: string }>("select max(seq) as seq from memory_events");

    await db.exec("analyze memory_events, episodes");
    const undivided = await planDivision(db);
    expect(undivided.map(({ table, parted, pays, rows }) => [table, parted, pays, rows])).toEqual([
      ["memory_events", false, false, before.reduce((n, { memory_events = [] }) => n + memory_events.length, 0)],
      ["episodes", false, false, 4],
    ]);
    expect(await divideAll(rig)).toEqual(["memory_events", "episodes"]);
    expect(await divideAll(rig)).toEqual([]);
    expect(await all()).toEqual(before);
    const plans = await planDivision(db);
    for (const [i, { rows, bytes }] of plans.entries()) {
      expect(rows).toBe(undivided[i]?.rows);
      expect(bytes).toBeGreaterThanOrEqual(undivided[i]?.bytes ?? 0);
    }
    expect(plans.map(({ parts }) => parts.map(({ name }) => name))).toEqual(
      PARTED.map((table) => ["2026_04", "2026_05", "2026_06", "before", "rest"].map((part) => `${table}_${part}`)),
    );

    const south = memoryOf(memory, "south").db;
    for (const table of PARTED) {
      expect((await south.query(`select from ${table}`)).length, table).toBe(before[1]?.[table]?.length);
      for (const part of ["before", "2026_04", "rest"])
        await expect(south.query(`select from ${table}_${part}`)).rejects.toMatchObject({ code: "42501" });
      expect(await asOwner(memory, "health").query(`select from ${table}`)).toHaveLength(
        before.reduce((n, held) => n + (held[table]?.length ?? 0), 0),
      );
      // The whole is secured as the undivided table was, and every part too.
      const [bound] = await db.query<{ n: number }>(
        `select count(*)::int4 as n from pg_partition_tree($1::regclass) t join pg_class c on c.oid = t.relid
         where not (c.relrowsecurity and c.relforcerowsecurity)`,
        [table],
      );
      expect(bound?.n, table).toBe(0);
    }

    // The month after: rows go to parts of their own, and an episode that says the same as one in another part is no second one.
    rig.set("2026-04-10T12:00:00.000Z");
    const again = await rig.call("memory_store", { content: "The north gate is green", tier: "long" }, as("north"));
    expect(again.id).toBe(north.lasting);
    const twice = await Promise.all(
      Array.from({ length: 6 }, () => rig.call("memory_store", { content: "A heron at the pond" }, as("north"))),
    );
    expect(new Set(twice.map(({ id }) => id)).size).toBe(1);
    const heron = twice[0]?.id as string;
    expect(await placesOf(db, "episodes", "id = $1", [heron])).toEqual([
      expect.stringMatching(/^episodes_2026_04_\d$/),
    ]);
    expect(await placesOf(db, "memory_events", "entity_id = $1", [heron])).toEqual(["memory_events_2026_04"]);
    const [first] = await db.query<{ seq: string }>("select min(seq) as seq from memory_events where entity_id = $1", [
      heron,
    ]);
    expect(BigInt(first?.seq ?? 0)).toBeGreaterThan(BigInt(last?.seq ?? 0));
    // One that was forgotten is not restored beside another that says the same.
    await rig.call("memory_forget", { id: north.lasting }, as("north"));
    const third = await rig.call("memory_store", { content: "The north gate is green", tier: "long" }, as("north"));
    expect(third.id).not.toBe(north.lasting);
    expect((await rig.refused("memory_restore", { type: "episode", id: north.lasting }, as("north"))).code).toBe(
      "conflict",
    );

    for (const table of ["memory_events", "memory_events_before", "memory_events_2026_04"])
      for (const change of [`delete from ${table}`, `update ${table} set butler = 'x'`, `truncate ${table}`])
        await expect(db.query(change), change).rejects.toMatchObject({ code: "23000" });
    expect((await verifyInScratch(db)).equal).toBe(true);
    await rig.call("control_erase", { session: "s" }, { as: { tenant: "south", admin: true } });
    expect((await holdings(db, "south")).episodes?.join()).not.toContain("has a garden");
    expect((await verifyInScratch(db)).equal).toBe(true);
    const sizes = await readSizes(asOwner(memory, "health"), rig.now);
    expect(sizes.rows.episodes).toBe(5);

    const target = await openPglite({ dir: undefined, snapshot: await migratedSnapshot() });
    await rig.settled();
    await moveStore({ source: db, target, scratch: undefined, tell: () => undefined });
    for (const tenant of ["north", "south"]) expect(await holdings(target, tenant)).toEqual(await holdings(db, tenant));
    await target.close();
  });

  it("the job makes the months to come, takes over what came before them, and drops what is empty", async () => {
    const rig = await open({ model: false });
    const { db } = rig;
    await furnish(rig, "north");
    await divideAll(rig);
    const ahead = async () => (await readSample(db, rig.now)).server?.partitions_ahead_days ?? 0;
    expect(await ahead()).toBeGreaterThan(100);
    const names = async () => (await planDivision(db)).map(({ parts }) => parts.map(({ name }) => name));

    // Nobody was there for months: what is stored now has no part of its own yet.
    rig.set("2026-08-15T12:00:00.000Z");
    expect(await ahead()).toBe(0);
    const late = await rig.call("memory_store", { content: "A late heron" }, as("north"));
    expect(await placesOf(db, "episodes", "id = $1", [late.id])).toEqual(["episodes_rest"]);
    const counted = () => db.query("select * from event_totals order by tenant_id, scope, event_type");
    const before = [await counted(), await holdings(db, "north")];
    expect(await runJob(rig, partitions, { dryRun: true })).toMatchObject({ counts: { made: 8, removed: 6 } });
    const report = await runJob(rig, partitions);
    // April to June were never used, by neither table.
    expect(report).toMatchObject({ counts: { made: 8, removed: 6 }, complete: true });
    expect(await names()).toEqual(
      PARTED.map((table) =>
        ["2026_08", "2026_09", "2026_10", "2026_11", "before", "rest"].map((part) => `${table}_${part}`),
      ),
    );
    expect(await placesOf(db, "episodes", "id = $1", [late.id])).toEqual([
      expect.stringMatching(/^episodes_2026_08_\d$/),
    ]);
    expect(await placesOf(db, "memory_events", "entity_id = $1", [late.id])).toEqual(["memory_events_2026_08"]);
    expect([await counted(), await holdings(db, "north")]).toEqual(before);
    expect(await ahead()).toBeGreaterThan(100);
    expect((await runJob(rig, partitions)).changed).toBe(0);
    const stored = await rig.call("memory_store", { content: "Another heron" }, as("north"));
    expect(stored.id).toBeDefined();
    expect((await verifyInScratch(db)).equal).toBe(true);
  });

  it("a division that was begun and left is told, refuses nothing, and is finished or taken back", async () => {
    const rig = await open({ model: false });
    const { db } = rig;
    await furnish(rig, "north");
    const owner = asOwner(rig.memory, "partitions");
    const boundary = await setBoundary(owner, "episodes", rig.now);
    expect(boundary.toISOString()).toBe("2026-04-01T00:00:00.000Z");
    expect((await planDivision(db)).map(({ begun }) => begun)).toEqual([undefined, boundary]);
    expect((await runJob(rig, partitions)).changed).toBe(0);
    rig.set("2026-03-30T12:00:00.000Z");
    expect(await runJob(rig, partitions)).toMatchObject({ counts: { boundaries_removed: 1 } });
    rig.set("2026-04-02T12:00:00.000Z");
    await rig.call("memory_store", { content: "A heron in April" }, as("north"));
    await divideAll(rig);
    expect((await planDivision(db)).map(({ parted, begun }) => [parted, begun])).toEqual([
      [true, undefined],
      [true, undefined],
    ]);
    expect((await verifyInScratch(db)).equal).toBe(true);
  });

  it("a table that is in use is left alone, and divided once it is not", async () => {
    const rig = await open({ model: false });
    await furnish(rig, "north");
    const told: string[] = [];
    const tell = (table: string, doing: string) => void told.push(`${table} ${doing}`);
    await rig.db.tx(async (sql) => {
      await sql.query("select from episodes");
      await expect(divideStore(rig.db, ["episodes"], { now: rig.now, tell, attempts: 1 })).rejects.toMatchObject({
        code: "conflict",
      });
    });
    expect((await planDivision(rig.db)).map(({ parted }) => parted)).toEqual([false, false]);
    expect(await divideStore(rig.db, ["episodes"], { now: rig.now, tell })).toEqual(["episodes"]);
    expect(told).toEqual(["episodes boundary", "episodes boundary", "episodes exchange"]);
  });
});
