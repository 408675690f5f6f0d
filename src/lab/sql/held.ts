/** SQL for the benchmark of a load alone: which of the episodes that an owner acknowledged its store holds. */
import type { Sql } from "../../engine/adapters/db/port.ts";
import { isKept } from "../../engine/store/memories/live.ts";

/** Ids in one statement. */
const AT_ONCE = 5_000;

/** How many different ones of these episodes there are. An id that was acknowledged twice is one episode. */
export async function heldEpisodes(sql: Sql, ids: readonly string[]): Promise<number> {
  const different = [...new Set(ids)];
  let held = 0;
  for (let from = 0; from < different.length; from += AT_ONCE) {
    const [row] = await sql.query<{ n: number }>(
      `select count(*)::int4 as n from episodes where id = any($1::uuid[]) and ${isKept()}`,
      [different.slice(from, from + AT_ONCE)],
    );
    held += row?.n ?? 0;
  }
  return held;
}
