/** Reading counts: one write for everything an answer returned. */
import type { Sql } from "../adapters/db/port.ts";
import type { MemoryType } from "../domain/memory-types.ts";

export interface Reference {
  readonly type: MemoryType;
  readonly id: string;
}

const TABLE: Readonly<Record<MemoryType, string>> = { episode: "episodes", fact: "facts", rule: "rules" };

export async function countReferences(sql: Sql, references: readonly Reference[], now: Date): Promise<void> {
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
  }
}
