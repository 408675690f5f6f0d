import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import { compiled } from "../support/compiled.ts";

const WRITER = compiled("pglite-writer");
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "butler-kill-"));
  const db = await openPglite({ dir });
  await db.exec("create table written (id int primary key, k text not null, touched int not null default 0)");
  await db.exec("create unique index written_k on written (k)");
  await db.close();
});
afterAll(() => rmSync(dir, { recursive: true }));

/** Lets the writer acknowledge a random number of rows, kills it, and gives the last acknowledged id. */
async function writeAndKill(rows: number): Promise<number> {
  const child = spawn(process.execPath, ["--liftoff-only", WRITER, dir], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "close");
  let out = "";
  let seen = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    seen += chunk.toString().split("\n").length - 1;
    if (seen >= rows) child.kill("SIGKILL");
  });
  await gone;
  expect(child.signalCode).toBe("SIGKILL");
  // Only whole lines count: the last piece may be half an id.
  return Number(out.slice(0, out.lastIndexOf("\n")).split("\n").at(-1));
}

it("loses no acknowledged row to five kills, and index and heap agree", async () => {
  for (let round = 0; round < 5; round++) {
    const acknowledged = await writeAndKill(20 + Math.floor(Math.random() * 200));
    const db = await openPglite({ dir });
    const [heap] = await db.tx(async (sql) => {
      await sql.query("set local enable_indexscan = off");
      await sql.query("set local enable_indexonlyscan = off");
      await sql.query("set local enable_bitmapscan = off");
      return sql.query(
        "select count(*)::int4 as n, max(id) as last, string_agg(k, ',' order by id) as keys from written",
      );
    });
    const [index] = await db.tx(async (sql) => {
      await sql.query("set local enable_seqscan = off");
      await sql.query("set local enable_sort = off");
      const plan = await sql.query("explain select k from written where k >= '' order by k");
      expect(JSON.stringify(plan)).toContain("written_k");
      return sql.query(
        "select count(*)::int4 as n, string_agg(k, ',' order by id) as keys from (select * from written where k >= '' order by k) w",
      );
    });
    await db.close();
    // At most one row can be committed but not yet acknowledged.
    expect(Number(heap?.last)).toBeGreaterThanOrEqual(acknowledged);
    expect(Number(heap?.last)).toBeLessThanOrEqual(acknowledged + 1);
    expect(heap?.n).toBe(heap?.last);
    expect(index).toEqual({ n: heap?.n, keys: heap?.keys });
  }
});
