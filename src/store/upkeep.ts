/** Small chores of the store that no user asks for. */
import type { Sql } from "../adapters/db/port.ts";
import type { MemoryType } from "../domain/memory-types.ts";

/** Keys that a proxy made for its own retries are of no use after a day; keys that callers chose are kept. */
export async function dropStaleKeys(sql: Sql, before: Date, prefix: string): Promise<void> {
  await sql.query(`delete from idempotency_keys where created_at < $1 and starts_with(key, $2)`, [before, prefix]);
}

export interface Unembedded {
  readonly type: MemoryType;
  readonly id: string;
  readonly text: string;
  readonly sk: number;
  readonly confidence: number;
  readonly decay_rate: number;
  readonly last_confirmed_at: Date;
  readonly until: Date | null;
}

/** Live memories without a vector of this version: stored while there was no model. */
export function findUnembedded(sql: Sql, version: number, now: Date, limit: number): Promise<Unembedded[]> {
  const missing = `d.state <> 2 and not exists (
    select 1 from embeddings e where e.memory_id = d.memory_id and e.version_id = $1)`;
  return sql.query<Unembedded>(
    `select * from (
       select 'episode' as type, m.id, m.content as text, d.sk, 1::float8 as confidence, 0::float8 as decay_rate,
         m.created_at as last_confirmed_at, m.expires_at as until
       from lex_doc d join episodes m on m.id = d.memory_id where m.expires_at > $2 and ${missing}
       union all
       select 'fact', m.id, m.subject_text || ' ' || replace(m.predicate_text, '_', ' ') || ': ' || m.content, d.sk,
         m.confidence, m.decay_rate, m.last_confirmed_at, m.valid_to
       from lex_doc d join facts m on m.id = d.memory_id where ${missing}
       union all
       select 'rule', m.id, m.content, d.sk, m.confidence, m.decay_rate, m.last_confirmed_at, null
       from lex_doc d join rules m on m.id = d.memory_id where ${missing}) as unembedded
     order by id limit $3`,
    [version, now, limit],
  );
}
