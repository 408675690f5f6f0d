/** Which episodes facts and rules were learned from. */
import type { Sql } from "../../adapters/db/port.ts";

export interface Origin {
  /** Of the fact or rule. */
  readonly id: string;
  readonly episode: string;
  /** Of the episode; null when it had none or is gone. */
  readonly session: string | null;
}

/** Of these facts and rules, as they were known then. What has no source was told directly. */
export function originsOf(sql: Sql, tenant: string, ids: readonly string[], until: Date): Promise<Origin[]> {
  return sql.query<Origin>(
    `select k.id, k.episode, e.session_id as session from (
       select source_id as id, target_id as episode from memory_links
         where tenant_id = $1 and source_id = any($2::uuid[]) and target_type = 'episode' and relation = 'derived_from'
           and created_at <= $3
       union
       select target_id, source_id from memory_links
         where tenant_id = $1 and target_id = any($2::uuid[]) and source_type = 'episode' and relation = 'supports'
           and created_at <= $3) k
     left join episodes e on e.id = k.episode and e.tenant_id = $1`,
    [tenant, ids, until],
  );
}

/**
 * Those whose every source is an episode of the session. An episode that is gone may have been of any session: what it taught does not
 * count as the session's.
 */
export function taughtBy(session: string, origins: readonly Origin[]): Set<string> {
  const others = new Set(origins.filter((origin) => origin.session !== session).map(({ id }) => id));
  return new Set(origins.map(({ id }) => id).filter((id) => !others.has(id)));
}

/** Of an episode: something that it taught has been superseded or taken back. Told again it would contradict what is known now. */
export const isOutdated = (alias: string): string => `exists (select from memory_links l
  left join facts f on l.source_type = 'fact' and f.id = l.source_id
  left join rules r on l.source_type = 'rule' and r.id = l.source_id
  where l.tenant_id = $1 and l.target_id = ${alias}.id and l.relation = 'derived_from'
    and coalesce(f.validity, r.validity) in ('superseded', 'retracted'))`;
