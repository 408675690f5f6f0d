/** Rows could be spread over machines by tenant: no key would have to be compared across them. */
import { expect, it } from "vitest";
import { SECURED } from "../../src/engine/store/access/row-security.ts";
import { foldShelf } from "../../src/engine/store/index/fold.ts";
import {
  createKey,
  madeAs,
  mem_0017_tenant_keys,
  TENANT_KEYS,
} from "../../src/engine/store/migrations/mem_0017_tenant_keys.ts";
import { mem_0018_long_lists } from "../../src/engine/store/migrations/mem_0018_long_lists.ts";
import { mem_0019_changed_memories } from "../../src/engine/store/migrations/mem_0019_changed_memories.ts";
import { mem_0020_session_order } from "../../src/engine/store/migrations/mem_0020_session_order.ts";
import { mem_0021_room_beside_vectors } from "../../src/engine/store/migrations/mem_0021_room_beside_vectors.ts";
import { kyselyOver } from "../../src/engine/store/schema/kysely.ts";
import { migrate } from "../../src/engine/store/schema/migrate.ts";
import { holdings } from "../support/holdings.ts";
import { onEachStore, openRig, type Rig } from "../support/stores.ts";

/** Tables without a tenant: small ones that every machine would have a copy of, or that one machine keeps. */
const OF_THE_STORE: Readonly<Record<string, string>> = {
  embedding_versions: "a model is the same for all tenants; every machine needs all rows",
  job_runs: "a job goes over the rows of all tenants",
  mem_migrations: "the schema is one",
  mem_migrations_lock: "the schema is one",
};

/** Its rows are noted by triggers and never looked up: a machine notes what it has changed itself. */
const WITHOUT_KEY = "changed_memories";

interface Key {
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
  /** Of a foreign key: the table it leads to. */
  readonly to: string | null;
}

const KEYS = `
  select t.relname as table, i.relname as name, null as to,
    array(select a.attname::text from unnest(x.indkey::int2[]) k join pg_attribute a on a.attrelid = t.oid and a.attnum = k) as columns
  from pg_index x join pg_class t on t.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
  where x.indisunique and t.relnamespace = current_schema()::regnamespace
  union all
  select t.relname, f.conname, o.relname,
    array(select a.attname::text from unnest(f.conkey) k join pg_attribute a on a.attrelid = t.oid and a.attnum = k)
  from pg_constraint f join pg_class t on t.oid = f.conrelid join pg_class o on o.oid = f.confrelid
  where f.contype = 'f' and t.relnamespace = current_schema()::regnamespace
  order by 1, 2`;

async function furnish(rig: Rig, tenant: string) {
  const as = { as: { tenant } };
  const source = await rig.call("memory_store_episode", { content: `The ${tenant} has a garden.` }, as);
  const fact = { subject: "garden", predicate: "place", source_episode_id: source.id };
  await rig.call("memory_store_fact", { ...fact, content: tenant }, as);
  await rig.call("memory_store_fact", { ...fact, content: `${tenant} now` }, as);
  const rule = await rig.call("memory_store_rule", { content: "Water it in the evening" }, as);
  await rig.call("memory_mark_helpful", { rule_id: rule.id, session_id: "one" }, as);
  await rig.call("memory_search", { query: "garden" }, as);
  await rig.settled();
}

onEachStore("the tenant in every key", (open, store) => {
  it("unique and foreign keys of a tenant's rows have it", async () => {
    const { db } = await open({ model: false });
    const keys = await db.query<Key>(KEYS);
    const tables = new Set(keys.map(({ table }) => table));
    for (const table of Object.keys(SECURED)) expect(tables.has(table), table).toBe(table !== WITHOUT_KEY);
    const without = keys.filter(({ columns, to }) => !columns.includes("tenant_id") && !(to && OF_THE_STORE[to]));
    expect(without.filter(({ table }) => OF_THE_STORE[table] === undefined)).toEqual([]);
    expect([...new Set(without.map(({ table }) => table))]).toEqual(Object.keys(OF_THE_STORE));
  });

  it("an older store of two tenants gets it and loses nothing, also where that was interrupted before", async () => {
    const rig = await open();
    const { db } = rig;
    for (const tenant of ["north", "south", "south east"]) await furnish(rig, tenant);
    for (const { sk } of await db.query<{ sk: number }>("select sk from shelves"))
      while ((await foldShelf(db, sk)).folded > 0);
    const all = () => Promise.all(["north", "south", "south east"].map((tenant) => holdings(db, tenant)));
    const before = await all();
    expect(before[2]?.lex_block?.length).toBeGreaterThan(0);
    expect(before[2]?.embeddings?.length).toBeGreaterThan(0);

    await mem_0021_room_beside_vectors.down(kyselyOver(db));
    await mem_0020_session_order.down(kyselyOver(db));
    await mem_0019_changed_memories.down(kyselyOver(db));
    await mem_0018_long_lists.down(kyselyOver(db));
    await mem_0017_tenant_keys.down(kyselyOver(db));
    await db.query("delete from mem_migrations where name >= 'mem_0017'");
    const [first] = TENANT_KEYS;
    if (first === undefined) throw new Error("no key");
    if (db.kind === "postgres") {
      // As one that was killed leaves it.
      await db.exec(createKey(first, "concurrently "));
      await db.query("update pg_index set indisvalid = false where indexrelid = to_regclass($1)", [madeAs(first)]);
    }
    await Promise.all(store === "PGlite" ? [migrate(db)] : [migrate(db), migrate(db)]);
    expect(await all()).toEqual(before);
    for (const table of ["embeddings", "lex_doc"])
      expect(
        await db.query(`select from ${table} t join shelves s using (sk) where s.tenant_id <> t.tenant_id`),
        table,
      ).toEqual([]);
    expect(await db.query("select from pg_class where relname like '%of_tenant%'")).toEqual([]);
    expect(await db.query("select from pg_proc where proname like '%fill_tenant'")).toEqual([]);

    const again = await openRig(db);
    const { results } = await again.call("memory_search", { query: "garden" }, { as: { tenant: "south" } });
    expect(results.map(({ content }: { content: string }) => content)).toContain("south now");
    expect(JSON.stringify(results)).not.toContain("north");
    await furnish(again, "west");
    await again.settled();
    await again.memory.close();
  });
});
