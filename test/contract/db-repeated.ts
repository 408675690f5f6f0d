/** A statement that comes again behaves as it did the first time, whatever a store keeps of it. */
import { describe, expect, it } from "vitest";
import type { Db, Sql } from "../../src/engine/adapters/db/port.ts";

const AGAIN = 4;
const TABLES = "drop table if exists contract_again; drop table if exists contract_other";

async function failure(work: Promise<unknown>): Promise<unknown> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  return error;
}

interface Values {
  readonly when: Date | null;
  readonly bytes: Uint8Array | null;
  readonly texts: readonly (string | null)[] | null;
  readonly numbers: readonly number[] | null;
  readonly doc: unknown;
  readonly big: string | null;
  readonly part: number | null;
  readonly yes: boolean | null;
  readonly whole: number | null;
}

const ECHO = `select $1::timestamptz as "when", $2::bytea as bytes, $3::text[] as texts, $4::int4[] as numbers,
  $5::jsonb as doc, $6::int8 as big, $7::float8 as part, $8::bool as yes, $9::int4 as whole`;
const NOTHING: Values = {
  when: null,
  bytes: null,
  texts: null,
  numbers: null,
  doc: null,
  big: null,
  part: null,
  yes: null,
  whole: null,
};
/** Every type of value that the engine sends, different each time. */
const valuesOf = (n: number): Values =>
  n % 3 === 2
    ? NOTHING
    : {
        when: new Date(Date.UTC(2024, 1, 29, 12, 34, 56, n)),
        bytes: Uint8Array.from({ length: n * 700 }, (_, i) => (i * 31 + n) % 256),
        texts: n % 2 === 0 ? [] : ["a", 'q"\\\\,{}', "", "NULL", null, `n${n}`],
        numbers: [n, n - 9, 0],
        doc: n % 2 === 0 ? { deep: [n, "x", null] } : `just text ${n}`,
        big: `${9_007_199_254_740_993n + BigInt(n)}`,
        part: n / 7,
        yes: n % 2 === 0,
        whole: n - 3,
      };

async function echoes(sql: Sql, n: number): Promise<void> {
  const { when, bytes, texts, numbers, doc, big, part, yes, whole } = valuesOf(n);
  const given = [when, bytes, texts, numbers, doc === null ? null : JSON.stringify(doc), big, part, yes, whole];
  const [row] = await sql.query<Values>(ECHO, given);
  const shape = (v: Values | undefined) => ({ ...v, bytes: v?.bytes && [...v.bytes] });
  expect(shape(row), `time ${n}`).toEqual(shape(valuesOf(n)));
}

export function repeatedStatements(open: () => Db): void {
  describe("a statement that comes again", () => {
    const fresh = async () => {
      const db = open();
      await db.exec(`${TABLES}; create table contract_again (id int primary key, v text)`);
      return db;
    };

    it("takes other parameters each time, of every type, outside and inside of transactions", async () => {
      const db = open();
      for (let n = 0; n < 7; n++) await echoes(db, n);
      await db.tx(async (sql) => {
        for (let n = 7; n < 10; n++) await echoes(sql, n);
      });
      await echoes(db, 10);
    });

    it("gives no rows, one or many, and what it changed", async () => {
      const db = await fresh();
      for (let n = 1; n <= AGAIN; n++) {
        expect(await db.query("insert into contract_again values ($1, $2)", [n, `v${n}`])).toEqual([]);
        expect(await db.query("update contract_again set v = $2 where id = $1 returning v", [n, "new"])).toEqual([
          { v: "new" },
        ]);
        expect(await db.query("select id from contract_again where id <= $1 order by id", [n])).toHaveLength(n);
        expect(await db.query("select id from contract_again where id > $1", [n])).toEqual([]);
      }
      for (let n = 1; n <= AGAIN; n++)
        expect(await db.query("delete from contract_again where id = $1 returning id", [n])).toEqual([{ id: n }]);
    });

    it("fails and then succeeds, in any turn", async () => {
      const db = await fresh();
      const insert = "insert into contract_again values ($1, $2) returning id";
      const divide = "select 10 / $1::int4 as n";
      for (let n = 1; n <= AGAIN; n++) {
        expect(await db.query(insert, [n, "a"])).toEqual([{ id: n }]);
        expect(await failure(db.query(insert, [n, "twice"]))).toMatchObject({ code: "23505" });
        expect(await failure(db.query(insert, ["no number", "a"]))).toMatchObject({ code: "22P02" });
        expect(await failure(db.query(divide, [0]))).toMatchObject({ code: "22012" });
        expect(await db.query(divide, [n])).toEqual([{ n: Math.trunc(10 / n) }]);
        expect(await failure(db.query("select nonsense from contract_again"))).toMatchObject({ code: "42703" });
      }
    });

    it("fails inside of a transaction without spoiling the next one", async () => {
      const db = await fresh();
      const insert = "insert into contract_again values ($1, 'x')";
      for (let n = 1; n <= AGAIN; n++) {
        const twice = db.tx(async (sql) => {
          await sql.query(insert, [0]);
          await sql.query(insert, [0]);
        });
        expect(await failure(twice)).toMatchObject({ code: "23505" });
        // Seen for the first time in a transaction that has already failed.
        const late = db.tx(async (sql) => {
          await failure(sql.query("select 1 / 0 as never"));
          await sql.query(`select ${n} as late`);
        });
        expect(await failure(late)).toMatchObject({ code: expect.stringMatching(/25P02|22012/) });
        expect(await db.query(`select ${n} as late`)).toEqual([{ late: n }]);
        await db.tx((sql) => sql.query(insert, [n]));
        expect(await db.query("select count(*)::int4 as n from contract_again")).toEqual([{ n }]);
      }
    });

    it("outlives the rollback of what it was first used in", async () => {
      const db = await fresh();
      const select = "select v from contract_other where id = $1";
      const script = async (sql: Sql) => {
        await sql.query("create table contract_other (id int, v text)");
        await sql.query("insert into contract_other values ($1, 'there')", [1]);
        for (let n = 0; n < 2; n++) expect(await sql.query(select, [1])).toEqual([{ v: "there" }]);
      };
      const undone = db.tx(async (sql) => {
        await script(sql);
        throw new Error("changed my mind");
      });
      expect(await failure(undone)).toMatchObject({ message: "changed my mind" });
      for (let n = 0; n < 2; n++) expect(await failure(db.query(select, [1]))).toMatchObject({ code: "42P01" });
      await db.tx(script);
      expect(await db.query(select, [1])).toEqual([{ v: "there" }]);
    });

    it.each(["exec", "query", "tx"] as const)("sees a table that was altered by %s", async (way) => {
      const db = await fresh();
      const alter = async (text: string) => {
        if (way === "exec") await db.exec(text);
        else if (way === "query") await db.query(text);
        else await db.tx((sql) => sql.query(text));
      };
      const all = "select * from contract_again order by id";
      const insert = "insert into contract_again (id, v) values ($1, $2)";
      const of = "select id from contract_again where v = $1";
      for (let n = 1; n <= 3; n++) {
        await db.query(insert, [n, `${n}`]);
        await db.query(all);
        await db.query(of, ["2"]);
      }
      await alter("alter table contract_again add column more int default 7");
      expect((await db.query(all))[0]).toEqual({ id: 1, v: "1", more: 7 });
      await alter("alter table contract_again alter column v type int using v::int");
      expect((await db.query(all))[0]).toEqual({ id: 1, v: 1, more: 7 });
      expect(await db.query(of, [2])).toEqual([{ id: 2 }]);
      await db.query(insert, [4, 4]);
      await alter("alter table contract_again alter column v type text using v::text");
      await db.query(insert, [5, "five"]);
      expect(await db.query(of, ["five"])).toEqual([{ id: 5 }]);
      await alter("alter table contract_again drop column more");
      expect((await db.query(all))[4]).toEqual({ id: 5, v: "five" });
    });

    it("gives bytes as they are, whatever stands beside them, also of a table that was altered", async () => {
      const db = await fresh();
      const bytesOf = (n: number) => Uint8Array.from({ length: 90_000 * n }, (_, i) => (i * 7 + n) % 256);
      await db.query("alter table contract_again add column x bytea");
      for (let n = 0; n < 4; n++)
        await db.query("insert into contract_again values ($1, $2, $3)", [
          n,
          `größe ${n}`,
          n === 2 ? null : bytesOf(n),
        ]);
      const stored = Array.from({ length: 4 }, (_, n) => [n, `größe ${n}`, n === 2 ? null : [...bytesOf(n)]]);
      const read = async (text: string) => {
        const rows = await db.query<{ id: number; v: string; x: Uint8Array | null }>(text);
        return rows.map(({ id, v, x }) => [id, v, x && [...x]]);
      };
      const all = "select * from contract_again order by id";
      const named = "select x, id, v from contract_again order by id";
      for (let n = 0; n < 3; n++) {
        expect(await read(all)).toEqual(stored);
        expect(await read(named)).toEqual(stored);
      }
      await db.query("alter table contract_again add column more bytea default '\\x00ff'");
      expect(await read(all)).toEqual(stored);
      expect(await read(named)).toEqual(stored);
      expect((await db.query<{ more: Uint8Array }>(all)).map(({ more }) => [...more])).toEqual(
        stored.map(() => [0, 255]),
      );
    });

    it("sees a table that was altered in the same transaction", async () => {
      const db = await fresh();
      const all = "select * from contract_again";
      for (let n = 0; n < 3; n++) await db.query(all);
      await db.tx(async (sql) => {
        await sql.query("alter table contract_again add column more int default 7");
        await sql.query("insert into contract_again (id, v) values (1, 'a')");
        expect(await sql.query(all)).toEqual([{ id: 1, v: "a", more: 7 }]);
      });
      expect(await db.query(all)).toEqual([{ id: 1, v: "a", more: 7 }]);
    });

    it("sees a table whose change was undone", async () => {
      const db = await fresh();
      const all = "select * from contract_again";
      for (let n = 0; n < 3; n++) await db.query(all);
      const undone = db.tx(async (sql) => {
        await sql.query("alter table contract_again add column more int default 7");
        await sql.query("insert into contract_again (id, v) values (1, 'a')");
        for (let n = 0; n < 3; n++) expect(await sql.query(all)).toEqual([{ id: 1, v: "a", more: 7 }]);
        throw new Error("changed my mind");
      });
      expect(await failure(undone)).toMatchObject({ message: "changed my mind" });
      await db.query("insert into contract_again (id, v) values (2, 'b')");
      for (let n = 0; n < 3; n++) expect(await db.query(all)).toEqual([{ id: 2, v: "b" }]);
    });

    it("is one of more than any store keeps", async () => {
      const db = open();
      const text = (n: number) => `select $1::int4 + ${n} as n`;
      for (let round = 0; round < 3; round++)
        for (let n = 0; n < 230; n++) expect(await db.query(text(n), [round])).toEqual([{ n: n + round }]);
      for (let n = 229; n >= 0; n -= 20) expect(await db.query(text(n), [5])).toEqual([{ n: n + 5 }]);
    });

    it("may make and drop what others use", async () => {
      const db = await fresh();
      const create = "create table contract_other (id int)";
      for (let n = 0; n < AGAIN; n++) {
        expect(await db.query(create)).toEqual([]);
        expect(await failure(db.query(create))).toMatchObject({ code: "42P07" });
        await db.query("insert into contract_other values ($1)", [n]);
        expect(await db.query("select * from contract_other")).toEqual([{ id: n }]);
        expect(await db.query("drop table contract_other")).toEqual([]);
        expect(await failure(db.query("select * from contract_other"))).toMatchObject({ code: "42P01" });
        await db.query("create table if not exists contract_again (id int)");
        await db.query("create index if not exists contract_again_v on contract_again (v)");
      }
      await db.exec(TABLES);
    });
  });
}
