/** Row security for every kind of user that a database URL may name: on the real server, with roles made for it. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { uuidv7Source } from "../../src/engine/adapters/ids.ts";
import { PARTED } from "../../src/engine/domain/partitions.ts";
import { divideStore } from "../../src/engine/memory/partitions/divide-store.ts";
import { asNobody, asOwnerOf, asTenant } from "../../src/engine/store/access/access.ts";
import { weaknesses } from "../../src/engine/store/access/advice.ts";
import { readAccess } from "../../src/engine/store/access/roles.ts";
import { mem_0017_tenant_keys } from "../../src/engine/store/migrations/mem_0017_tenant_keys.ts";
import { mem_0018_long_lists } from "../../src/engine/store/migrations/mem_0018_long_lists.ts";
import { mem_0019_changed_memories } from "../../src/engine/store/migrations/mem_0019_changed_memories.ts";
import { mem_0020_session_order } from "../../src/engine/store/migrations/mem_0020_session_order.ts";
import { mem_0021_room_beside_vectors } from "../../src/engine/store/migrations/mem_0021_room_beside_vectors.ts";
import { addMonth } from "../../src/engine/store/partitions/make-part.ts";
import { kyselyOver } from "../../src/engine/store/schema/kysely.ts";
import { migrate } from "../../src/engine/store/schema/migrate.ts";
import { administer, withDatabase } from "../support/postgres.ts";

const url = inject("postgresUrl");

describe.skipIf(url === undefined)("row security on a server (skipped without a PostgreSQL server)", () => {
  const server = url ?? "";
  const mark = randomBytes(4).toString("hex");
  const [plain, maker, butler, parted] = [`plain_${mark}`, `maker_${mark}`, `butler_${mark}`, `parted_${mark}`];
  const database = (role: string) => `rows_${role}`;
  const run = (where: string, ...statements: string[]) =>
    administer(where, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  const as = (role: string, of = role) => {
    const parsed = new URL(withDatabase(server, database(of)));
    parsed.username = role;
    parsed.password = "hush";
    return parsed.href;
  };
  const inside = async <T>(where: string, work: (db: Db) => Promise<T>) => {
    const db = await openPostgres({ url: where, max: 2 });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  };
  const made = [plain, maker, butler, parted, `super_${mark}`];
  beforeAll(async () => {
    await run(server, ...made.slice(0, 4).map((role) => `create role ${role} login password 'hush'`));
    await run(server, `alter role ${maker} createrole`);
    for (const role of [plain, maker, parted]) await run(server, `create database ${database(role)} owner ${role}`);
    await run(server, `create database ${database(`super_${mark}`)}`);
    for (const role of [plain, maker, parted, `super_${mark}`])
      await run(withDatabase(server, database(role)), "create extension if not exists vector");
  });
  afterAll(async () => {
    for (const role of made) await run(server, `drop database if exists ${database(role)} with (force)`);
    for (const role of [
      ...made,
      ...made.flatMap((name) => [`${name}_owner`, `${name}_tenant`, `${name}_owner_tenant`]),
    ])
      await run(server, `drop role if exists ${role}`);
  });

  const event = (tenant: string) =>
    `insert into memory_events (id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor, payload)
     values (gen_random_uuid(), '${tenant}', 'b', 's', 'e.x', 'fact', gen_random_uuid(), now(), 'a', '{}')`;
  const count = async (db: Db) =>
    Number((await db.query<{ n: string }>("select count(*) as n from memory_events"))[0]?.n);

  /** Two tenants write; each sees its own row, nobody none, and work over all both, twice in a row over few connections. */
  async function keptApart(db: Db): Promise<void> {
    const { roles } = await migrate(db);
    const [north, south] = [asTenant(db, roles, "north"), asTenant(db, roles, "south")];
    const all = asOwnerOf(db, roles, "health");
    const before = await count(all);
    for (const tenant of [north, south]) {
      const name = tenant === north ? "north" : "south";
      const own = await count(tenant);
      await tenant.query(event(name));
      await tenant.tx((sql) => sql.query(event(name)));
      expect(await count(tenant)).toBe(own + 2);
      await expect(tenant.query(event(name === "north" ? "south" : "north"))).rejects.toMatchObject({ code: "42501" });
    }
    expect(
      await Promise.all([count(north), count(all), count(south), count(asNobody(db, roles)), count(north)]),
    ).toEqual([(before + 4) / 2, before + 4, (before + 4) / 2, 0, (before + 4) / 2]);
    // Nothing stays on a connection.
    const [left] = await db.query(
      "select current_setting('butler.tenant', true) as tenant, current_user = session_user as self",
    );
    expect(left).toEqual({ tenant: expect.toBeOneOf(["", null]), self: true });
    // A second opening finds everything in order.
    expect(await migrate(db)).toEqual(await readAccess(db));
  }

  const advised = (where: string) => inside(where, async (db) => weaknesses(db, await readAccess(db)));
  const sqlOf = (remedy: string, before: RegExp) => (before.exec(remedy)?.[1] ?? "").trim();

  it("binds an owner that may not make roles, and takes the role once an administrator has made it", async () => {
    await inside(as(plain), async (db) => {
      await keptApart(db);
      expect((await readAccess(db)).roles).toEqual({ tenant: undefined, owner: undefined });
      // Without a name not even the owner sees a row.
      expect(await count(db)).toBe(0);
    });
    const [role, owns, slow, ...rest] = await advised(as(plain));
    expect(role?.found).toContain("there is no role for the calls of tenants");
    expect(owns?.found).toContain(`"${plain}" of the database URL owns the tables`);
    expect(slow?.found).toContain("read more than they return");
    expect(rest).toEqual([]);
    const admin = withDatabase(server, database(plain));
    await run(admin, sqlOf(role?.remedy ?? "", /has to run: (.*;) The next/));
    await run(admin, sqlOf(slow?.remedy ?? "", /this database: (.*;)$/));
    await inside(as(plain), async (db) => {
      await keptApart(db);
      expect((await readAccess(db)).roles).toEqual({ tenant: `${plain}_tenant`, owner: undefined });
      const { roles } = await readAccess(db);
      await expect(asTenant(db, roles, "north").query("delete from memory_events")).rejects.toMatchObject({
        code: "42501",
      });
    });
    // The last advice: a login that owns nothing.
    await run(admin, sqlOf(owns?.remedy ?? "", /this database: (.*;) The next/));
    await inside(as(plain), async (db) => {
      await keptApart(db);
      const { roles, owns } = await readAccess(db);
      expect({ roles, owns }).toEqual({ roles: { tenant: `${plain}_tenant`, owner: `${plain}_owner` }, owns: false });
      expect(await count(db)).toBe(0);
      await asOwnerOf(db, roles, "upkeep").exec("create index concurrently scratch on facts (id)");
      await asOwnerOf(db, roles, "upkeep").exec("drop index scratch");
      const [self] = await db.query("select current_user = session_user as self");
      expect(self).toEqual({ self: true });
    });
    expect(await advised(as(plain))).toEqual([]);
  });

  it("makes the role where the owner may", () =>
    inside(as(maker), async (db) => {
      await keptApart(db);
      expect((await readAccess(db)).roles).toEqual({ tenant: `${maker}_tenant`, owner: undefined });
    }));

  it("gives the keys of an older store their tenant, and holds for tables in parts, by a user who is no superuser and owns nothing", async () => {
    const owner = `${parted}_owner`;
    await run(
      withDatabase(server, database(parted)),
      `create role ${owner} nologin`,
      `create role ${owner}_tenant nologin`,
      `grant ${owner}, ${owner}_tenant to ${parted}`,
      `alter database ${database(parted)} owner to ${owner}`,
      `grant ${owner}_tenant to ${owner}`,
      `grant create on schema public to ${owner}`,
    );
    await inside(as(parted), async (db) => {
      const { roles } = await migrate(db);
      expect(roles).toEqual({ tenant: `${owner}_tenant`, owner });
      const older = asOwnerOf(db, roles, "migrations");
      await mem_0021_room_beside_vectors.down(kyselyOver(older));
      await mem_0020_session_order.down(kyselyOver(older));
      await mem_0019_changed_memories.down(kyselyOver(older));
      await mem_0018_long_lists.down(kyselyOver(older));
      await mem_0017_tenant_keys.down(kyselyOver(older));
      await older.query("delete from mem_migrations where name >= 'mem_0017'");
      await older.query(
        "insert into shelves (tenant_id, scope, type) select t, 's', 'fact' from unnest('{north,south}'::text[]) t",
      );
      await older.query("insert into lex_doc (memory_id, sk, len, x) select gen_random_uuid(), sk, 0, '' from shelves");
      await migrate(db);
      const filed = await older.query(
        "select s.tenant_id = d.tenant_id as same from lex_doc d join shelves s using (sk)",
      );
      expect(filed).toEqual([{ same: true }, { same: true }]);

      const [now, ids] = [new Date("2026-03-10T12:00:00Z"), uuidv7Source()];
      const told = (tenant: string, at: Date) =>
        asTenant(db, roles, tenant).query(event(tenant).replace("gen_random_uuid()", `'${ids.next(at)}'`));
      for (const tenant of ["north", "south"]) await told(tenant, now);
      expect(await divideStore(db, PARTED, { now, tell: () => undefined })).toEqual([...PARTED]);
      for (const tenant of ["north", "south"])
        for (const at of ["2026-03-11", "2026-05-01", "2026-09-01"]) await told(tenant, new Date(at));
      const seen = () => Promise.all(["north", "south", ""].map((tenant) => count(asTenant(db, roles, tenant))));
      expect(await seen()).toEqual([4, 4, 0]);
      await expect(
        told("south", now).then(() => asTenant(db, roles, "north").query(event("south"))),
      ).rejects.toMatchObject({
        code: "42501",
      });
      const all = asOwnerOf(db, roles, "partitions");
      const made = await addMonth(all, "memory_events", new Date("2026-09-01"));
      const strayed = await all.query<{ n: string }>(`select count(*) as n from ${made}`);
      expect([made, strayed]).toEqual(["memory_events_2026_09", [{ n: "2" }]]);
      expect(await seen()).toEqual([4, 5, 0]);
      for (const change of ["delete from memory_events", `delete from ${made}`])
        await expect(all.query(change)).rejects.toMatchObject({ code: "23000" });
      expect(await migrate(db)).toEqual(await readAccess(db));
    });
  });

  it("binds the calls of tenants where the user is a superuser, and says how to change that", async () => {
    const place = withDatabase(server, database(`super_${mark}`));
    await inside(place, keptApart);
    const [superuser, ...rest] = await advised(place);
    expect(rest).toEqual([]);
    expect(superuser?.found).toContain("is not bound by row security");
    await run(
      place,
      sqlOf(superuser?.remedy ?? "", /this database: (.*;) Then/)
        .replaceAll("butler;", `${butler};`)
        .replaceAll("to butler'", `to ${butler}'`),
    );
    await inside(as(butler, `super_${mark}`), keptApart);
    const left = await advised(as(butler, `super_${mark}`));
    expect(left.map(({ found }) => found)).toEqual([expect.stringContaining("owns the tables")]);
  });
});
