/** A store with memories of two tenants, from before row security. */
import { expect, it } from "vitest";
import { asTenant } from "../../src/engine/store/access/access.ts";
import { SECURED } from "../../src/engine/store/access/row-security.ts";
import { mem_0012_row_security } from "../../src/engine/store/migrations/mem_0012_row_security.ts";
import { mem_0013_erasure } from "../../src/engine/store/migrations/mem_0013_erasure.ts";
import { mem_0014_quarantine } from "../../src/engine/store/migrations/mem_0014_quarantine.ts";
import { mem_0015_retention } from "../../src/engine/store/migrations/mem_0015_retention.ts";
import { mem_0016_keys } from "../../src/engine/store/migrations/mem_0016_keys.ts";
import { mem_0017_tenant_keys } from "../../src/engine/store/migrations/mem_0017_tenant_keys.ts";
import { mem_0018_long_lists } from "../../src/engine/store/migrations/mem_0018_long_lists.ts";
import { mem_0019_changed_memories } from "../../src/engine/store/migrations/mem_0019_changed_memories.ts";
import { mem_0020_session_order } from "../../src/engine/store/migrations/mem_0020_session_order.ts";
import { mem_0021_room_beside_vectors } from "../../src/engine/store/migrations/mem_0021_room_beside_vectors.ts";
import { kyselyOver } from "../../src/engine/store/schema/kysely.ts";
import { migrate } from "../../src/engine/store/schema/migrate.ts";
import { HOLDING, holdings } from "../support/holdings.ts";
import { onEachStore, openRig } from "../support/stores.ts";

/** Row security and what came after it, the last first. */
const LATER = [
  mem_0021_room_beside_vectors,
  mem_0020_session_order,
  mem_0019_changed_memories,
  mem_0018_long_lists,
  mem_0017_tenant_keys,
  mem_0016_keys,
  mem_0015_retention,
  mem_0014_quarantine,
  mem_0013_erasure,
  mem_0012_row_security,
];

onEachStore("row security for an older store", (open) => {
  it("binds what is there, loses nothing, and goes on", async () => {
    const rig = await open({ model: false });
    const { db } = rig;
    const as = (tenant: string) => ({ as: { tenant } });
    const told = async (tenant: string, content: string) =>
      (await rig.call("memory_store_episode", { content, session_id: "one" }, as(tenant))).id;
    for (const tenant of ["north", "south"]) {
      const source = await told(tenant, `The ${tenant} has a garden.`);
      const fact = { subject: "garden", predicate: "place", content: tenant, source_episode_id: source };
      await rig.call("memory_store_fact", fact, as(tenant));
      await rig.call("memory_search", { query: "garden" }, as(tenant));
    }
    await rig.settled();
    const before = { north: await holdings(db, "north"), south: await holdings(db, "south") };

    for (const migration of LATER) await migration.down(kyselyOver(db));
    await db.query("delete from mem_migrations where name >= 'mem_0012'");
    const secured =
      "select relname from pg_class where relrowsecurity or exists (select from pg_policy where polrelid = pg_class.oid)";
    expect(await db.query(secured)).toEqual([]);
    expect(await db.query("select from pg_proc where proname = 'split_part' and proleakproof")).toEqual([]);
    const granted =
      "select c.relname from pg_class c cross join lateral aclexplode(c.relacl) x where c.relname = any($1::text[]) and x.grantee <> c.relowner";
    expect(await db.query(granted, [Object.keys(SECURED)])).toEqual([]);

    const { roles, policed } = await migrate(db);
    expect(policed).toBe(true);
    expect({ north: await holdings(db, "north"), south: await holdings(db, "south") }).toEqual(before);
    const south = asTenant(db, roles, "south");
    for (const table of HOLDING) {
      const rows = await south.query(`select from ${table}`);
      expect(rows.length, table).toBe(before.south[table]?.length);
    }
    const again = await openRig(db, { model: false });
    const { results } = await again.call(
      "memory_search",
      { query: "garden", scope: "*" },
      { as: { tenant: "south", admin: true } },
    );
    expect(results.map(({ content }: { content: string }) => content).toSorted()).toEqual([
      "The south has a garden.",
      "south",
    ]);
    expect(
      (await again.call("memory_stats", { scope: "*" }, { as: { tenant: "north", admin: true } })).episodes.total,
    ).toBe(1);
    await again.settled();
  });
});
