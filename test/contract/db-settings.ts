/** Settings for the time of a transaction: the same on every store. */
import { expect, it } from "vitest";
import type { Db, Sql } from "../../src/engine/adapters/db/port.ts";

/** The suite's user must be a superuser, who may take any role. */
export function settingsForATransaction(store: () => Db): void {
  const shown = async (sql: Sql) =>
    (
      await sql.query<{ a: string; b: string; who: string }>(
        `select coalesce(current_setting('contract.a', true), '') as a, coalesce(current_setting('contract.b', true), '') as b,
           case when current_user = session_user then 'self' else current_user end as who`,
      )
    )[0];
  const READER = "pg_read_all_stats";
  const none = { a: "", b: "", who: "self" };

  it("are those of each handle, in single statements and in transactions, whoever comes in between", async () => {
    const db = store();
    const one = db.withSettings({ "contract.a": "it's \\ 1", role: READER });
    const two = db.withSettings({ "contract.b": "2" });
    const of = { one: { a: "it's \\ 1", b: "", who: READER }, two: { a: "", b: "2", who: "self" } };
    for (let turn = 0; turn < 3; turn++) {
      expect(await Promise.all([one, two, db, one, one, two, db].map(shown))).toEqual([
        of.one,
        of.two,
        none,
        of.one,
        of.one,
        of.two,
        none,
      ]);
      expect(await Promise.all([one.tx(shown), two.tx(shown), db.tx(shown)])).toEqual([of.one, of.two, none]);
    }
    // Settings replace those of the handle that was asked.
    expect(await shown(one.withSettings({ "contract.b": "3" }))).toEqual({ a: "", b: "3", who: "self" });
  });

  it("do not outlive a failure", async () => {
    const db = store();
    const one = db.withSettings({ "contract.a": "1", role: READER });
    await expect(one.query("select 1 / 0")).rejects.toMatchObject({ code: "22012" });
    await expect(one.query("select no_such_column")).rejects.toMatchObject({ code: "42703" });
    await expect(one.query("create table contract_forbidden ()")).rejects.toMatchObject({ code: "42501" });
    await expect(one.tx((sql) => sql.query("select 1 / 0"))).rejects.toMatchObject({ code: "22012" });
    await expect(one.exec("select 1 / 0")).rejects.toMatchObject({ code: "22012" });
    expect(await shown(db)).toEqual(none);
    expect(await shown(one)).toMatchObject({ a: "1", who: READER });
  });

  it("that cannot be had fail the statement, not the next one", async () => {
    const db = store();
    const nobody = db.withSettings({ role: "contract_no_such_role" });
    const refused = (answer: Promise<unknown>) => expect(answer).rejects.toMatchObject({ code: "22023" });
    await refused(nobody.query("select 1"));
    await refused(nobody.tx(shown));
    await refused(nobody.exec("select 1"));
    expect(await shown(db)).toEqual(none);
  });

  it("hold for the whole of a script", async () => {
    const db = store();
    await db.exec("create table contract_said (a text, who text); grant insert on contract_said to public");
    try {
      const say = "insert into contract_said values (current_setting('contract.a', true), current_user)";
      await db.withSettings({ "contract.a": "1", role: READER }).exec(`${say}; ${say}`);
      expect(await db.query("select distinct * from contract_said")).toEqual([{ a: "1", who: READER }]);
      expect(await shown(db)).toEqual(none);
    } finally {
      await db.exec("drop table contract_said");
    }
  });

  it("bring rows, bytes and no row as any other statement", async () => {
    const one = store().withSettings({ "contract.a": "1" });
    const bytes = new Uint8Array([1, 2, 250]);
    for (let turn = 0; turn < 3; turn++) {
      expect(await one.query("select x from generate_series(1, 3) as x")).toEqual([{ x: 1 }, { x: 2 }, { x: 3 }]);
      expect(await one.query("select 1 where false")).toEqual([]);
      const [row] = await one.query<{ b: Uint8Array }>("select $1::bytea as b", [bytes]);
      expect([...(row?.b ?? [])]).toEqual([...bytes]);
    }
  });
}
