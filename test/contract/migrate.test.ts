import { readdirSync } from "node:fs";
import { describe, expect, inject, it } from "vitest";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { migrateDown } from "../../src/engine/store/schema/chain.ts";
import { migrate } from "../../src/engine/store/schema/migrate.ts";
import { freshDatabase } from "../support/postgres.ts";
import { dumpSchema } from "../support/schema-dump.ts";
import { migratedSnapshot } from "../support/stores.ts";

const postgresUrl = inject("postgresUrl");
const CHAIN = readdirSync(new URL("../../src/engine/store/migrations", import.meta.url))
  .map((file) => file.replace(/\.ts$/, ""))
  .toSorted();

const leftOvers = (db: Db) =>
  db.query(
    `select relname as name from pg_class c where relnamespace = current_schema()::regnamespace
     union all
     select proname from pg_proc p where pronamespace = current_schema()::regnamespace
       and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
  );

async function upDownUp(db: Db): Promise<void> {
  await migrate(db);
  const first = await dumpSchema(db);
  await migrate(db);
  await migrateDown(db);
  expect(await leftOvers(db)).toEqual([]);
  await migrate(db);
  expect(await dumpSchema(db)).toBe(first);
}

async function refusesNewer(db: Db): Promise<void> {
  await db.query("insert into mem_migrations (name, timestamp) values ('mem_9999_tomorrow', '2030-01-01')");
  await expect(migrate(db)).rejects.toMatchObject({
    code: "unavailable",
    message: "this store was made by a newer butler-memory: upgrade butler-memory, or use another BUTLER_HOME.",
  });
}

describe("migrations on PGlite", () => {
  it("go up, down without a trace, and up again; a newer store is refused", async () => {
    const db = await openPglite({ dir: undefined, snapshot: await migratedSnapshot() });
    await upDownUp(db);
    await refusesNewer(db);
    await db.close();
  });
});

describe.skipIf(postgresUrl === undefined)("migrations on PostgreSQL", () => {
  const onServer = async (work: (open: () => Promise<Db>) => Promise<void>) => {
    const database = await freshDatabase(postgresUrl ?? "");
    const opened: Db[] = [];
    try {
      await work(async () => {
        const db = await openPostgres({ url: database.url });
        opened.push(db);
        return db;
      });
    } finally {
      for (const db of opened) await db.close();
      await database.drop();
    }
  };

  it("go up, down without a trace, and up again; a newer store is refused", () =>
    onServer(async (open) => {
      const db = await open();
      await upDownUp(db);
      await refusesNewer(db);
    }));

  it("run once when several processes start at once", () =>
    onServer(async (open) => {
      const migrators = await Promise.all([open(), open(), open(), open()]);
      await Promise.all(migrators.map(migrate));
      const [db] = migrators;
      expect(await db?.query("select name from mem_migrations order by name")).toEqual(CHAIN.map((name) => ({ name })));
      await Promise.all(migrators.map(migrate));
    }));
});
