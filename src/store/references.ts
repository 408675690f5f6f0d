/** Reading counts: one write for everything an answer returned. */
import type { Sql } from "../adapters/db/port.ts";
import type { MemoryType } from "../domain/memory-types.ts";

export interface Reference {
  readonly type: MemoryType;
  readonly id: string;
}

const TABLE: Readonly<Record<MemoryType, string>> = { episode: "episodes", fact: "facts", rule: "rules" };

/** `session` is the reader's; readers without one are together the session `''`. */
export async function countReferences(
  sql: Sql,
  references: readonly Reference[],
  now: Date,
  session: string,
): Promise<void> {
  for (const type of ["episode", "fact", "rule"] as const) {
    const ids = references.filter((r) => r.type === type).map((r) => r.id);
    if (ids.length === 0) continue;
    // Ids are locked in order, so that two readers of the same memories cannot deadlock.
    await sql.query(
      `update ${TABLE[type]} m set
         reference_count = m.reference_count + 1,
         prior_referenced_at = case
           when (m.last_referenced_at at time zone 'UTC')::date < ($2::timestamptz at time zone 'UTC')::date
           then m.last_referenced_at else m.prior_referenced_at end,
         last_referenced_at = greatest(m.last_referenced_at, $2::timestamptz)
       from (select id from ${TABLE[type]} where id = any($1::uuid[]) order by id for update) as locked
       where m.id = locked.id`,
      [ids, now],
    );
    if (type === "episode") await countReaders(sql, ids, now, session);
  }
}

/** After the update, which holds the episodes: one that was deleted meanwhile gets no row here. */
async function countReaders(sql: Sql, ids: readonly string[], now: Date, session: string): Promise<void> {
  await sql.query(
    `insert into episode_references as r (tenant_id, episode_id, session_id, day, n)
     select tenant_id, id, $3, ($2::timestamptz at time zone 'UTC')::date, 1
     from episodes where id = any($1::uuid[])
     on conflict (episode_id, session_id, day) do update set n = r.n + 1`,
    [ids, now, session],
  );
}
