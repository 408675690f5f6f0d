/** The owner dies eight times in the middle of writing: nothing acknowledged is lost, and every index agrees with its table. */
import { afterAll, expect, test } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { verifyLexical } from "../../src/engine/store/index/lexical-check.ts";
import { agent, butler, cleanUp, ownerNote, seededHome } from "../support/owner-processes.ts";

const KILLS = 8;
afterAll(cleanUp);

test("kill -9 of the owner during a write loop, eight times", async () => {
  const home = await seededHome();
  const writer = await agent(home);
  const acknowledged: string[] = [];
  for (let round = 0, kills = 0, n = 0; kills < KILLS; round++) {
    // Writes go on while the signal falls: some calls are under way when their owner dies.
    const burst = Array.from({ length: 6 }, (_, i) => {
      const content = `Entry ${n + i}: the gardener watered bed ${(n + i) % 7} after round ${round}`;
      return writer.call("memory_store_episode", { butler: "general", content });
    });
    n += burst.length;
    if (round % 2 === 0) await burst[round % burst.length];
    kills += Number(killOwner(home));
    for (const answer of await Promise.all(burst)) acknowledged.push(String(answer.id));
  }
  await writer.close();
  await butler(home, ["stop"]);

  const db = await openPglite({ dir: homeAt(home).store("general") });
  try {
    const rows = await db.query<{ id: string }>("select id from episodes");
    expect(new Set(rows.map((row) => row.id))).toEqual(new Set(acknowledged));
    expect(rows).toHaveLength(acknowledged.length);
    expect(await verifyLexical(db)).toEqual([]);
    expect(await disagreements(db)).toEqual([]);
    const [sums] = await db.query<{ words: number; events: number; keys: number }>(
      `select (select count(*)::int4 from lex_doc where state <> 2) as words,
              (select count(*)::int4 from memory_events where event_type = 'episode.stored') as events,
              (select count(*)::int4 from idempotency_keys) as keys`,
    );
    expect(sums).toEqual({ words: rows.length, events: rows.length, keys: rows.length });
  } finally {
    await db.close();
  }
});

/** False where it is dead already: it had answered all calls of the round before in one transaction, and nobody has started the next one yet. */
function killOwner(home: string): boolean {
  const pid = ownerNote(home)?.pid;
  try {
    return pid !== undefined && process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    return false;
  }
}

/** Each btree of ours, counted through the index and through the heap. */
async function disagreements(db: Db): Promise<string[]> {
  const indexes = await db.query<{ index: string; table: string; column: string; predicate: string | null }>(
    `select c.relname as index, t.relname as table, a.attname as column, pg_get_expr(i.indpred, i.indrelid) as predicate
     from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
     join pg_namespace n on n.oid = t.relnamespace and n.nspname = 'public'
     join pg_am am on am.oid = c.relam and am.amname = 'btree'
     join pg_attribute a on a.attrelid = t.oid and a.attnum = i.indkey[0] order by 1`,
  );
  const found: string[] = [];
  for (const { index, table, column, predicate } of indexes) {
    const count = `select count(*)::int4 as n from (select ${column} from ${table} ${predicate ? `where ${predicate}` : ""} order by ${column}) q`;
    const [byIndex, byHeap] = await db.tx(async (sql) => {
      await sql.query("set local enable_seqscan = off");
      await sql.query("set local enable_bitmapscan = off");
      await sql.query("set local enable_sort = off");
      const one = await sql.query<{ n: number }>(count);
      await sql.query("set local enable_seqscan = on");
      await sql.query("set local enable_sort = on");
      await sql.query("set local enable_indexscan = off");
      await sql.query("set local enable_indexonlyscan = off");
      return [one, await sql.query<{ n: number }>(count)];
    });
    if (byIndex?.[0]?.n !== byHeap?.[0]?.n) found.push(`${index}: ${byIndex?.[0]?.n} ≠ ${byHeap?.[0]?.n}`);
  }
  return found;
}
