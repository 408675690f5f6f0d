import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Db, Sql } from "../../src/engine/adapters/db/port.ts";
import { repeatedStatements } from "./db-repeated.ts";
import { settingsForATransaction } from "./db-settings.ts";

const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 31) % 256);
const plain = (value: unknown) => (value instanceof Uint8Array ? [...value] : value);

async function failure(work: Promise<unknown>): Promise<Record<string, unknown>> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  return error as Record<string, unknown>;
}

/** What every store must do. `open` gives a fresh handle; the suite makes and drops its own tables, named contract_…. */
export function dbContract(name: string, open: () => Promise<Db>): void {
  describe(`${name}: the store contract`, () => {
    let db: Db;
    beforeAll(async () => {
      db = await open();
      await db.exec("drop table if exists contract_row; drop table if exists contract_vector");
      await db.exec("create table contract_row (id int constraint contract_row_key primary key, v text)");
    });
    afterAll(async () => {
      await db.exec("drop table if exists contract_row; drop table if exists contract_vector");
      await db.close();
    });
    const echo = async (type: string, value: unknown) =>
      (await db.query<{ v: unknown }>(`select $1::${type} as v`, [value]))[0]?.v;
    const count = async (sql: Sql) => (await sql.query<{ n: string }>("select count(*) as n from contract_row"))[0]?.n;

    const when = new Date("2024-02-29T12:34:56.789Z");
    const uuid = "0190a0b0-1234-7abc-8def-0123456789ab";
    it.each([
      ["int4", -7, -7],
      ["int8", "9007199254740993", "9007199254740993"],
      ["int8", 5, "5"],
      ["float8", 0.1, 0.1],
      ["bool", true, true],
      ["text", 'tab\t quote " backslash \\ \u{1f600}', 'tab\t quote " backslash \\ \u{1f600}'],
      ["uuid", uuid, uuid],
      ["timestamptz", when, when],
      ["bytea", new Uint8Array(0), new Uint8Array(0)],
      ["bytea", bytes(300), bytes(300)],
      ["bytea", bytes(300).subarray(10, 20), bytes(300).slice(10, 20)],
      ["jsonb", JSON.stringify({ a: [1, "x", null] }), { a: [1, "x", null] }],
      ["jsonb", JSON.stringify("just text"), "just text"],
      ["json", JSON.stringify([1, { b: true }]), [1, { b: true }]],
      ["text", null, null],
      ["text[]", ["a", 'q"\\,{}', "", "NULL", null], ["a", 'q"\\,{}', "", "NULL", null]],
      ["text[]", [], []],
      ["uuid[]", [uuid], [uuid]],
      ["int4[]", [1, -2, null], [1, -2, null]],
      ["int8[]", ["9007199254740993", "1"], ["9007199254740993", "1"]],
      ["float8[]", [0.5, -1e300], [0.5, -1e300]],
      ["timestamptz[]", [when, null], [when, null]],
      ["bytea[]", [bytes(3), new Uint8Array(0), bytes(300)], [bytes(3), new Uint8Array(0), bytes(300)]],
    ])("gives a %s back as it was (%#)", async (type, given, expected) => {
      const value = await echo(type, given);
      if (expected instanceof Uint8Array) expect(value).toBeInstanceOf(Uint8Array);
      const shape = (v: unknown) => (Array.isArray(v) ? v.map(plain) : plain(v));
      expect(shape(value)).toEqual(shape(expected));
    });

    it("takes floats as they are, the first time and later", async () => {
      const floats = Float32Array.from([0, -0.1, 1 / 3, 1e-8, 3.4e38, 0.062469482421875]);
      const text = "select $1::float4[] as floats, cardinality($1::float4[]) as n, ($1::float4[])[3:4] as part";
      for (let time = 0; time < 4; time++) {
        const [row] = await db.query<{ floats: number[]; n: number; part: number[] }>(text, [floats]);
        expect(row?.n).toBe(floats.length);
        expect(row?.floats.map(Math.fround)).toEqual([...floats]);
        expect(row?.part.map(Math.fround)).toEqual([...floats.slice(2, 4)]);
      }
      expect(floats).toHaveLength(6);
    });

    it("stores a json parameter as json, not as a string of json", async () => {
      const [row] = await db.query("select jsonb_typeof($1::jsonb) as t, $1::jsonb->>'a' as a", ['{"a":"b"}']);
      expect(row).toEqual({ t: "object", a: "b" });
    });

    it("leaves the caller's bytes usable after a query", async () => {
      const mine = bytes(100_000);
      await echo("bytea", mine);
      expect(mine.length).toBe(100_000);
      expect(mine[31]).toBe((31 * 31) % 256);
    });

    it("carries big values", async () => {
      const text = "wörld ".repeat(350_000);
      expect((await echo("text", text)) === text).toBe(true);
      const blob = bytes(1024 * 1024);
      const back = (await echo("bytea", blob)) as Uint8Array;
      expect(Buffer.compare(Buffer.from(back), Buffer.from(blob))).toBe(0);
    });

    it("commits what resolves and rolls back what throws", async () => {
      await db.exec("delete from contract_row");
      const answer = await db.tx(async (sql) => {
        await sql.query("insert into contract_row values (1, 'kept')");
        return 42;
      });
      expect(answer).toBe(42);
      const error = await failure(
        db.tx(async (sql) => {
          await sql.query("insert into contract_row values (2, 'gone')");
          throw new Error("changed my mind");
        }),
      );
      expect(error.message).toBe("changed my mind");
      expect(await db.query("select id, v from contract_row")).toEqual([{ id: 1, v: "kept" }]);
    });

    it("tells SQLSTATE, constraint and detail, and stays usable", async () => {
      await db.exec("delete from contract_row");
      await db.query("insert into contract_row values (1, 'a')");
      const error = await failure(db.query("insert into contract_row values (1, 'b')"));
      expect(error).toMatchObject({ code: "23505", constraint: "contract_row_key" });
      expect(error.detail).toContain("(id)=(1)");
      expect(error.message).toContain("duplicate key");
      expect(await failure(db.query("select nonsense"))).toMatchObject({ code: "42703" });
      expect(await count(db)).toBe("1");
    });

    it("rolls back when a statement fails, even if the caller swallows the error", async () => {
      await db.exec("delete from contract_row");
      const inTx = db.tx(async (sql) => {
        await sql.query("insert into contract_row values (1, 'a')");
        await sql.query("insert into contract_row values (1, 'b')");
      });
      expect(await failure(inTx)).toMatchObject({ code: "23505" });
      const swallowed = db.tx(async (sql) => {
        await sql.query("insert into contract_row values (1, 'a')");
        await failure(sql.query("insert into contract_row values (1, 'b')"));
        return "looks fine";
      });
      expect(await failure(swallowed)).toMatchObject({ code: "23505" });
      expect(await count(db)).toBe("0");
      expect(await db.tx((sql) => count(sql))).toBe("0");
    });

    it("lets a savepoint save the transaction", async () => {
      await db.exec("delete from contract_row");
      await db.tx(async (sql) => {
        await sql.query("insert into contract_row values (1, 'a')");
        await sql.query("savepoint s");
        await failure(sql.query("insert into contract_row values (1, 'b')"));
        await sql.query("rollback to savepoint s");
      });
      expect(await count(db)).toBe("1");
    });

    it("refuses the handle of a transaction that has ended", async () => {
      let leaked: Sql | undefined;
      await db.tx(async (sql) => {
        leaked = sql;
      });
      expect((await failure((leaked as Sql).query("select 1"))).message).toContain("ended");
    });

    it("keeps concurrent transactions apart and completes them all", async () => {
      await db.exec("delete from contract_row; insert into contract_row values (0, '0')");
      const add = () =>
        db.tx(async (sql) => {
          const [row] = await sql.query<{ v: string }>("select v from contract_row where id = 0 for update");
          await new Promise((done) => setTimeout(done, 2));
          await sql.query("update contract_row set v = $1 where id = 0", [String(Number(row?.v) + 1)]);
        });
      await Promise.all(Array.from({ length: 20 }, add));
      expect(await db.query("select v from contract_row")).toEqual([{ v: "20" }]);
    });

    it("never shows outer queries the inside of an open transaction, and completes them", async () => {
      await db.exec("delete from contract_row");
      const outer: Promise<string | undefined>[] = [];
      await db.tx(async (sql) => {
        await sql.query("insert into contract_row values (1, 'a')");
        outer.push(count(db), count(db));
        await sql.query("delete from contract_row");
      });
      expect(await Promise.all(outer)).toEqual(["0", "0"]);
    });

    it("answers 200 concurrent queries, each with its own answer", async () => {
      const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => echo("int4", i)));
      expect(answers).toEqual(Array.from({ length: 200 }, (_, i) => i));
    });

    it("runs scripts of several statements", async () => {
      await db.exec(
        "delete from contract_row; insert into contract_row values (1, 'a;b'); insert into contract_row values (2, 'c')",
      );
      expect(await count(db)).toBe("2");
      await db.exec("checkpoint");
      await db.exec("vacuum contract_row");
    });

    it("is usable after a script that failed inside of its own transaction, and has undone it", async () => {
      await db.exec("delete from contract_row");
      const script = "begin; insert into contract_row values (1, 'a'); select nonsense; commit";
      expect(await failure(db.exec(script))).toMatchObject({ code: "42703" });
      expect(await count(db)).toBe("0");
    });

    repeatedStatements(() => db);
    describe("settings", () => settingsForATransaction(() => db));

    it("has vectors", async () => {
      await db.exec("create extension if not exists vector");
      await db.exec("create table contract_vector (id int, e vector(3))");
      await db.exec("create index on contract_vector using hnsw (e vector_cosine_ops)");
      await db.query("insert into contract_vector values (1, $1::vector), (2, $2::vector)", ["[1,0,0]", "[0,1,0]"]);
      const near = await db.query("select id, e <=> $1::vector as d from contract_vector order by d", ["[0,2,0]"]);
      expect(near).toEqual([
        { id: 2, d: 0 },
        { id: 1, d: 1 },
      ]);
    });

    it("closes once, after what was asked before, and says so afterwards", async () => {
      const other = await open();
      const before = other.query("select 7 as n");
      await Promise.all([other.close(), other.close()]);
      await other.close();
      expect(await before).toEqual([{ n: 7 }]);
      for (const call of [other.query("select 1"), other.exec("select 1"), other.tx(async () => 1)]) {
        expect(await failure(call)).toMatchObject({ code: "unavailable", message: expect.stringContaining("closed") });
      }
    });
  });
}
