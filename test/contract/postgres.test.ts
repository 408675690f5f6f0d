import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startServer } from "../../scripts/postgres/server.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { checkServer, ensureDatabase } from "../../src/engine/adapters/db/postgres-admin.ts";
import { MemoryError } from "../../src/engine/domain/errors.ts";
import { PATIENCE } from "../support/patience.ts";
import {
  administer,
  cloneDatabase,
  freshDatabase,
  type TestDatabase,
  templateDatabase,
  withDatabase,
} from "../support/postgres.ts";
import { dbContract } from "./db.ts";

const url = inject("postgresUrl");

const failure = async (work: Promise<unknown>): Promise<MemoryError> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof MemoryError))
    throw new Error(`Expected a MemoryError, got ${String(error)}`, { cause: error });
  return error;
};

describe.skipIf(url === undefined)("the server store (skipped without a PostgreSQL server)", () => {
  const server = url ?? "";
  const changed = (change: (url: URL) => void) => {
    const parsed = new URL(server);
    change(parsed);
    return parsed.href;
  };
  let home: TestDatabase;
  let db: Db;

  beforeAll(async () => {
    home = await freshDatabase(server);
    db = await openPostgres({ url: home.url });
    await db.exec("create extension vector; create table note (id int primary key, body text not null)");
  });
  afterAll(async () => {
    await db?.close();
    await home?.drop();
  });

  dbContract("a pool", () => openPostgres({ url: home.url }));
  dbContract("a pool of one", () => openPostgres({ url: home.url, max: 1 }));

  describe("connecting", () => {
    it("says what to do when nothing listens", async () => {
      const probe = createServer().listen(0, "127.0.0.1");
      await new Promise((resolve) => probe.once("listening", resolve));
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      await new Promise((resolve) => probe.close(resolve));
      const error = await failure(openPostgres({ url: `postgres://me:hush@127.0.0.1:${port}/x` }));
      expect(error.code).toBe("unavailable");
      expect(error.message).toContain(`No PostgreSQL answers at 127.0.0.1:${port}`);
    });

    it("says what to do when the host has no address", async () => {
      const error = await failure(openPostgres({ url: "postgres://me:hush@no-such-host.invalid/x" }));
      expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining("cannot be resolved") });
    });

    it("says what to do for a wrong password, and does not repeat it", async () => {
      const wrong = changed((parsed) => {
        parsed.password = "hush-hush";
      });
      const error = await failure(openPostgres({ url: wrong }));
      expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining("refused the user") });
      expect(`${error.message} ${String(error.cause)} ${JSON.stringify(error.cause)}`).not.toContain("hush-hush");
    });

    it("says what to do for a missing password, and leaves no connection behind", async () => {
      const without = changed((parsed) => {
        parsed.password = "";
      });
      expect((await failure(openPostgres({ url: without }))).message).toContain("refused the user");
      // A connection that is still authenticating has no user yet.
      const waiting = "select pid from pg_stat_activity where backend_type = 'client backend' and usesysid is null";
      await expect.poll(() => db.query(waiting), PATIENCE).toEqual([]);
    });

    it("says what to do for a missing database", async () => {
      const error = await failure(openPostgres({ url: server, database: "no such place" }));
      expect(error).toMatchObject({
        code: "unavailable",
        message: expect.stringContaining('no database "no such place"'),
      });
    });

    it.each([
      "",
      "localhost",
      "mysql://me:hush@localhost/x",
      "postgres://me:hush@localhost:notaport/x",
      "postgres://%zz:hush@h/x",
    ])("refuses the URL %j without quoting it", async (wrong) => {
      const error = await failure(openPostgres({ url: wrong }));
      expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining("cannot be read") });
      expect(`${error.message} ${String(error.cause)}`).not.toContain("hush");
    });

    it("sets up every session, and pgvector takes its settings over when it is loaded", async () => {
      const another = await openPostgres({ url: home.url, max: 1, applicationName: "butler-test" });
      try {
        // Touching the type loads the library; until then the settings are placeholders.
        await another.query("select '[1,2,3]'::vector");
        const settings = await another.query<{ name: string; setting: string }>(
          `select name, setting from pg_settings
            where name in ('TimeZone', 'application_name', 'statement_timeout', 'hnsw.ef_search',
                           'hnsw.iterative_scan', 'ivfflat.probes', 'ivfflat.iterative_scan')
              and (name not like '%.%' or vartype in ('integer', 'enum'))`,
        );
        expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
          TimeZone: "UTC",
          application_name: "butler-test",
          statement_timeout: "60000",
          "hnsw.ef_search": "200",
          "hnsw.iterative_scan": "relaxed_order",
          "ivfflat.probes": "30",
          "ivfflat.iterative_scan": "relaxed_order",
        });
      } finally {
        await another.close();
      }
    });
  });

  it("parses sparse vectors, which is what uses the retargeted import of the prebuilt library", async () => {
    const [row] = await db.query(
      "select '{1:1.5,3:2}/5'::sparsevec::text as sparse, '[1,2]'::vector <-> '[1,4]' as far",
    );
    expect(row).toEqual({ sparse: "{1:1.5,3:2}/5", far: 2 });
  });

  it("runs statements that are started at once in a transaction one after the other", async () => {
    const sum = await db.tx(async (sql) => {
      const all = await Promise.all([1, 2, 3].map((n) => sql.query<{ n: number }>("select $1::int as n", [n])));
      return all.flat().reduce((total, row) => total + row.n, 0);
    });
    expect(sum).toBe(6);
  });

  it("passes on what the work throws as it is, also when it looks like a lost connection", async () => {
    const foreign = Object.assign(new Error("the model's server went away"), { code: "ECONNRESET" });
    await expect(db.tx(() => Promise.reject(foreign))).rejects.toBe(foreign);
  });

  it("survives that its connection is ended in the middle of a transaction", async () => {
    const one = await openPostgres({ url: home.url, max: 1 });
    try {
      const cut = one.tx(async (sql) => {
        const [row] = await sql.query<{ pid: number }>("select pg_backend_pid() as pid");
        await sql.query("insert into note values (30, 'lost')");
        await administer(home.url, (client) => client.query("select pg_terminate_backend($1, 5000)", [row?.pid]));
        await sql.query("insert into note values (31, 'lost too')");
      });
      expect(await failure(cut)).toMatchObject({ code: "unavailable", message: expect.stringContaining("was lost") });
      expect(await one.query("select id from note where id >= 30")).toEqual([]);
    } finally {
      await one.close();
    }
  });

  it("does not hand on a connection on which a script stopped inside of its transaction", async () => {
    const one = await openPostgres({ url: home.url, max: 1 });
    try {
      await one.exec("begin");
      await expect(one.exec("begin; select 1/0")).rejects.toMatchObject({ code: "22012" });
      expect(await one.query("select 1 as one")).toEqual([{ one: 1 }]);
    } finally {
      await one.close();
    }
  });

  it("lifts the statement timeout for scripts only", async () => {
    const one = await openPostgres({ url: home.url, max: 1 });
    try {
      await one.exec("create table seen as select current_setting('statement_timeout') as during");
      expect(await one.query("select during, current_setting('statement_timeout') as after from seen")).toEqual([
        { during: "0", after: "1min" },
      ]);
    } finally {
      await one.close();
    }
  });

  it("answers everybody who waits for the only connection before it closes", async () => {
    const one = await openPostgres({ url: home.url, max: 1 });
    const answers = Promise.all([1, 2, 3].map((n) => one.query("select $1::int as n", [n])));
    await one.close();
    expect((await answers).flat()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it("recovers when the server is restarted", async () => {
    const own = await startServer();
    const store = await openPostgres({ url: own.url, max: 3 });
    try {
      await store.exec("create table kept (n int); insert into kept values (7)");
      await Promise.all([1, 2, 3].map(() => store.query("select pg_sleep(0.05)")));
      const during = failure(store.query("select pg_sleep(30)"));
      await expect
        .poll(() => store.query("select 1 from pg_stat_activity where query like '%sleep(30)'"), PATIENCE)
        .not.toEqual([]);
      await own.restart();
      expect(await during).toMatchObject({ code: "unavailable" });
      expect(await store.query("select n from kept")).toEqual([{ n: 7 }]);
    } finally {
      await store.close();
      await own.stop();
    }
    expect(await failure(openPostgres({ url: own.url }))).toMatchObject({ code: "unavailable" });
  });

  describe("administration", () => {
    it("creates a butler's database once, however many ask at the same time", async () => {
      const name = `race-${Math.random().toString(36).slice(2, 10)}`;
      try {
        const urls = await Promise.all(Array.from({ length: 6 }, () => ensureDatabase(server, name)));
        expect(new Set(urls)).toEqual(new Set([withDatabase(server, `butler_${name}`)]));
        expect(await ensureDatabase(server, name)).toBe(urls[0]);
        const opened = await openPostgres({ url: urls[0] ?? "" });
        expect(await opened.query("select current_database() as name")).toEqual([{ name: `butler_${name}` }]);
        await opened.close();
      } finally {
        await administer(server, (client) => client.query(`drop database if exists "butler_${name}" with (force)`));
      }
    });

    it.each(["", "Upper", 'a"b', "a b", "x".repeat(57)])("refuses the name %j", async (name) => {
      expect(await failure(ensureDatabase(server, name))).toMatchObject({ code: "invalid_input", field: "name" });
    });

    it("says who may not create databases", async () => {
      const role = `plain_${Math.random().toString(36).slice(2, 10)}`;
      await administer(server, (client) => client.query(`create role ${role} login password 'plain'`));
      try {
        const plain = changed((parsed) => {
          parsed.username = role;
          parsed.password = "plain";
        });
        expect(await failure(ensureDatabase(plain, "mine"))).toMatchObject({
          code: "unavailable",
          message: expect.stringContaining("may not create databases"),
        });
      } finally {
        await administer(server, (client) => client.query(`drop role ${role}`));
      }
    });

    it("accepts this server, and names what another one lacks", async () => {
      const versions = await checkServer(db);
      expect(Number.parseInt(versions.server, 10)).toBeGreaterThanOrEqual(15);
      expect(versions.pgvector).toMatch(/^\d+\.\d+/);

      const row = { number: 180004, server: "18.4", encoding: "UTF8", pgvector: "0.8.2" };
      const refuse = async (lack: Partial<Record<keyof typeof row, unknown>>) =>
        (await failure(checkServer({ query: async <R>() => [{ ...row, ...lack }] as R[] }))).message;
      expect(await refuse({ pgvector: null })).toContain("install postgresql-18-pgvector");
      expect(await refuse({ pgvector: "0.7.4" })).toContain("0.7.4 is too old");
      expect(await refuse({ number: 140011, server: "14.11" })).toContain("14.11 is too old");
      expect(await refuse({ encoding: "SQL_ASCII" })).toContain("SQL_ASCII");
    });

    it("clones a template that is prepared once", async () => {
      const name = `template_${Math.random().toString(36).slice(2, 10)}`;
      let prepared = 0;
      const prepare = async (place: string) => {
        prepared++;
        const store = await openPostgres({ url: place });
        await store.exec("create table made (n int); insert into made values (1)");
        await store.close();
      };
      await Promise.all([1, 2, 3].map(() => templateDatabase(server, name, prepare)));
      expect(prepared).toBe(1);
      const clones = await Promise.all([cloneDatabase(server, name), cloneDatabase(server, name)]);
      for (const clone of clones) {
        expect(await administer(clone.url, async (client) => (await client.query("select n from made")).rows)).toEqual([
          { n: 1 },
        ]);
        await clone.drop();
      }
      await administer(server, async (client) => {
        await client.query(`alter database ${name} with is_template false`);
        await client.query(`drop database ${name}`);
      });
    });
  });
});
