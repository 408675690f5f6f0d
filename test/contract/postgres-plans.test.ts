/** A statement whose plan a server keeps answers as one that is planned each time, also where its name is of no use. */
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type Db, PLAN_KEPT } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { freshDatabase, type TestDatabase } from "../support/postgres.ts";

const url = inject("postgresUrl");
const NOTES = `select body from note where id = $1 ${PLAN_KEPT}`;
const NAMES = "select name, generic_plans + custom_plans as used from pg_prepared_statements";

describe.skipIf(url === undefined)("a statement whose plan is kept", () => {
  let database: TestDatabase;
  let db: Db;
  const reopen = async (options: { readonly directUrl?: string } = {}) => {
    await db?.close();
    // One connection, so that names are those of the statements before.
    db = await openPostgres({ url: database.url, max: 1, ...options });
    return db;
  };
  const named = async (): Promise<number> => (await db.query(NAMES)).length;
  beforeAll(async () => {
    database = await freshDatabase(url ?? "");
    await reopen();
    await db.exec("create table note (id int primary key, body text not null)");
    await db.exec("insert into note select n, 'note ' || n from generate_series(1, 20) as n");
  });
  afterAll(async () => {
    await db?.close();
    await database?.drop();
  });

  it("is named once, and takes other parameters and settings each time", async () => {
    await reopen();
    for (let n = 1; n <= 8; n++) {
      const settings = n % 2 === 0 ? { "butler.tenant": `t${n}` } : {};
      expect(await db.withSettings(settings).query(NOTES, [n])).toEqual([{ body: `note ${n}` }]);
    }
    expect(await db.query(NAMES)).toMatchObject([{ used: "8" }]);
    const tenant = `select current_setting('butler.tenant', true) as tenant ${PLAN_KEPT}`;
    for (let n = 1; n <= 8; n++)
      expect(await db.withSettings({ "butler.tenant": `t${n}` }).query(tenant)).toEqual([{ tenant: `t${n}` }]);
    expect(await named()).toBe(2);
  });

  it("has no name within a transaction, nor has any other statement", async () => {
    await reopen();
    await db.tx((sql) => sql.query(NOTES, [1]));
    await db.query("select body from note where id = $1", [1]);
    expect(await named()).toBe(0);
  });

  it("is asked again without a name where that is lost, taken, or of a table that was altered", async () => {
    for (const settings of [{}, { "butler.tenant": "t" }]) {
      await reopen();
      const ask = () => db.withSettings(settings).query(NOTES, [3]);
      await ask();
      await db.query("deallocate all");
      for (let n = 0; n < 3; n++) expect(await ask()).toEqual([{ body: "note 3" }]);
      expect(await named()).toBe(0);

      await reopen();
      await ask();
      const [{ name } = { name: "" }] = await db.query<{ name: string }>(NAMES);
      await reopen();
      await db.exec(`prepare ${name} as select 1`);
      for (let n = 0; n < 3; n++) expect(await ask()).toEqual([{ body: "note 3" }]);

      await reopen();
      await ask();
      await db.exec("alter table note alter column body type varchar(90)");
      for (let n = 0; n < 3; n++) expect(await ask()).toEqual([{ body: "note 3" }]);
      await db.exec("alter table note alter column body type text");
    }
  });

  it("fails as it would without a name, and can succeed afterwards", async () => {
    await reopen();
    const missing = `select v from not_there ${PLAN_KEPT}`;
    const divide = `select 6 / $1::int4 as n ${PLAN_KEPT}`;
    for (const settings of [{}, { "butler.tenant": "t" }]) {
      const as = db.withSettings(settings);
      for (let n = 0; n < 2; n++) {
        await expect(as.query(missing)).rejects.toMatchObject({ code: "42P01" });
        await expect(as.query(divide, [0])).rejects.toMatchObject({ code: "22012" });
        expect(await as.query(divide, [2])).toEqual([{ n: 3 }]);
      }
    }
    await db.exec("create table not_there (v int)");
    expect(await db.withSettings({ "butler.tenant": "t" }).query(missing)).toEqual([]);
    await expect(db.withSettings({ role: "nobody_there" }).query(NOTES, [1])).rejects.toMatchObject({ code: "22023" });
    expect(await db.withSettings({ "butler.tenant": "t" }).query(NOTES, [1])).toEqual([{ body: "note 1" }]);
    expect(await named()).toBe(3);
  });

  it("has no name behind a pooler that is known to be one", async () => {
    await reopen({ directUrl: database.url });
    expect(await db.query(NOTES, [4])).toEqual([{ body: "note 4" }]);
    expect(await named()).toBe(0);
  });
});
