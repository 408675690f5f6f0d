/** Small maintenance of the store, done by the owner when it is idle. */
import type { Sql } from "../../adapters/db/port.ts";

/** Keys that a proxy made for its own retries are of no use after a day; keys that callers chose are kept. */
export async function dropStaleKeys(sql: Sql, before: Date, prefix: string): Promise<number> {
  const gone = await sql.query(
    `delete from idempotency_keys where created_at < $1 and starts_with(key, $2) returning 1`,
    [before, prefix],
  );
  return gone.length;
}

export async function countStaleKeys(sql: Sql, before: Date, prefix: string): Promise<number> {
  const [row] = await sql.query<{ n: number }>(
    `select count(*)::int4 as n from idempotency_keys where created_at < $1 and starts_with(key, $2)`,
    [before, prefix],
  );
  return row?.n ?? 0;
}
