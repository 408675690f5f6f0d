/** SQL for the consolidation benchmark alone: everything that was learned, and what of it was learned twice. */
import type { Sql } from "../../engine/adapters/db/port.ts";
import { isLive } from "../../engine/store/memories/live.ts";

export interface LearnedRow {
  readonly subject: string;
  readonly content: string;
}

export async function learnedFacts(sql: Sql): Promise<{ live: readonly LearnedRow[]; rules: number }> {
  const live = await sql.query<LearnedRow>(
    `select subject, content from facts where ${isLive()} order by created_at, id`,
  );
  const [row] = await sql.query<{ n: number }>("select count(*)::int4 as n from rules where validity = 'active'");
  return { live, rules: row?.n ?? 0 };
}

export interface Alike {
  readonly a: string;
  readonly b: string;
  readonly later: string;
  readonly cosine: number;
}

/** Pairs of live facts whose vectors are nearly the same. */
export function alikeFacts(sql: Sql): Promise<Alike[]> {
  return sql.query<Alike>(
    `select f.content as a, g.content as b, g.id as later, 1 - (v.embedding <=> w.embedding) as cosine
     from facts f join embeddings v on v.memory_id = f.id
       join facts g on g.id > f.id and g.scope = f.scope and g.subject = f.subject
       join embeddings w on w.memory_id = g.id and w.version_id = v.version_id
     where ${isLive("f")} and ${isLive("g")}
       and 1 - (v.embedding <=> w.embedding) >= 0.97`,
  );
}

/** Facts and rules that are linked to no stored episode. */
export async function unwitnessed(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ n: number }>(
    `select count(*)::int4 as n from (select id from facts union all select id from rules) as m
     where not exists (select 1 from memory_links l join episodes e on e.id = l.target_id
       where l.source_id = m.id and l.relation = 'derived_from')`,
  );
  return row?.n ?? 0;
}

/** Marks all episodes as not yet consolidated; facts and rules stay. */
export async function forgetLearning(sql: Sql): Promise<void> {
  await sql.query("update episodes set consolidation_status = 'pending', consolidation_attempts = 0");
}
