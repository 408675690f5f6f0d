/** What other roles of a server may do to a butler's database, and what ours may not: on the real server, with restricted roles. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { ensureDatabase } from "../../src/engine/adapters/db/postgres-admin.ts";
import { checkRights, openDatabaseWarning, superuserWarning } from "../../src/engine/adapters/db/postgres-rights.ts";
import { migrate } from "../../src/engine/store/schema/migrate.ts";
import { administer, withDatabase } from "../support/postgres.ts";

const url = inject("postgresUrl");

describe.skipIf(url === undefined)("rights on a server (skipped without a PostgreSQL server)", () => {
  const server = url ?? "";
  const mark = randomBytes(4).toString("hex");
  const [ours, other] = [`ours_${mark}`, `other_${mark}`];
  const databases = [`butler_mine-${mark}`, `butler_given-${mark}`, `butler_open-${mark}`];
  const run = (...statements: string[]) =>
    administer(server, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  const as = (role: string, database?: string) => {
    const parsed = new URL(database === undefined ? server : withDatabase(server, database));
    parsed.username = role;
    parsed.password = "hush";
    return parsed.href;
  };
  const inside = async <T>(where: string, work: (db: Awaited<ReturnType<typeof openPostgres>>) => Promise<T>) => {
    const db = await openPostgres({ url: where, max: 1 });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  };
  const wordsOf = (work: Promise<unknown>) =>
    work.then(
      () => "no refusal",
      (error: Error) => error.message,
    );

  /** Runs what the refusal says, as an administrator; nothing when there was no refusal. */
  const obey = async (words: string, database: string) => {
    const remedy = /connected to "[^"]+": (.*)$/.exec(words)?.[1];
    if (remedy !== undefined) await administer(withDatabase(server, database), (client) => client.query(remedy));
  };

  beforeAll(() =>
    run(
      `create role ${ours} login createdb password 'hush'`,
      `create role ${other} login password 'hush'`,
      `create database "${databases[1]}"`,
      `create database "${databases[2]}" owner ${ours}`,
    ),
  );
  afterAll(async () => {
    for (const database of databases) await run(`drop database if exists "${database}" with (force)`);
    await run(`drop role if exists ${ours}`, `drop role if exists ${other}`);
  });

  it("a database that is made is for its owner alone: another role cannot connect, so it cannot take our locks", async () => {
    const place = await ensureDatabase(as(ours), `mine-${mark}`);
    const theirs = as(other, `butler_mine-${mark}`);
    const lock = "select pg_advisory_lock(hashtextextended('default', 7031))";
    const words = await wordsOf(inside(theirs, (db) => db.query(lock)));
    expect(words).toContain(`grant connect on database "butler_mine-${mark}" to "${other}"`);
    await obey(await wordsOf(inside(place, checkRights)), `butler_mine-${mark}`);
    await inside(place, async (db) => {
      await checkRights(db);
      expect(await openDatabaseWarning(db)).toBeUndefined();
      // A plain role that may create databases is enough for everything else.
      await migrate(db);
    });
  });

  it("one that everybody may enter is told, with what closes it", async () => {
    const place = as(ours, databases[2]);
    const words = await inside(place, openDatabaseWarning);
    const remedy = /has to run: (revoke .*);$/.exec(words ?? "")?.[1] ?? "";
    expect(remedy).toContain(`"${databases[2]}"`);
    await inside(place, (db) => db.exec(remedy));
    expect(await inside(place, openDatabaseWarning)).toBeUndefined();
    expect(await wordsOf(inside(as(other, databases[2]), (db) => db.query("select 1")))).toContain("does not let");
  });

  it("a role that may not create the extension is told what an administrator has to run, and that is enough", async () => {
    const place = as(ours, databases[1]);
    const words = await wordsOf(inside(place, checkRights));
    expect(words).toContain(`"${ours}" may not create the extension vector in the database "${databases[1]}"`);
    expect(words).toContain("create extension if not exists vector;");
    await obey(words, databases[1] ?? "");
    await inside(place, async (db) => {
      await checkRights(db);
      await migrate(db);
    });
  });

  it("a role that may not create databases is told what an administrator has to run, and that is enough", async () => {
    const words = await wordsOf(ensureDatabase(as(other), `asked-${mark}`));
    databases.push(`butler_asked-${mark}`);
    const remedy = /has to run: (create database [^;]+;) (revoke [^;]+;) or: (alter role [^;]+;)$/.exec(words);
    expect(remedy?.[3]).toBe(`alter role "${other}" createdb;`);
    await run(remedy?.[1] ?? "", remedy?.[2] ?? "");
    const place = await ensureDatabase(as(other), `asked-${mark}`);
    await obey(await wordsOf(inside(place, checkRights)), `butler_asked-${mark}`);
    await inside(place, async (db) => {
      await checkRights(db);
      expect(await openDatabaseWarning(db)).toBeUndefined();
      await migrate(db);
    });
  });

  it("a superuser is warned about, a plain role is not", async () => {
    expect(await inside(server, superuserWarning)).toContain("is a superuser");
    expect(await inside(as(ours), superuserWarning)).toBeUndefined();
  });
});
