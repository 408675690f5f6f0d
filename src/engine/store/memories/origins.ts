/** Which episodes facts and rules were learned from. */
import type { Sql } from "../../adapters/db/port.ts";
import type { Fact } from "../../domain/fact.ts";
import type { Source } from "../../domain/lifecycle/quarantine.ts";

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
 * Who has said a fact or rule so far, and in which session; the sessions that were given it from memory are among them, because they would
 * repeat it. The session of an episode that is gone is found in the stream.
 */
export function sourcesOf(
  sql: Sql,
  tenant: string,
  { id, source, trust, created_at }: Pick<Fact, "id" | "source" | "trust" | "created_at">,
): Promise<Source[]> {
  return sql.query<Source>(
    `with links as (
       select target_id as episode from memory_links
         where tenant_id = $1 and source_id = $2 and target_type = 'episode' and relation = 'derived_from'
       union
       select source_id from memory_links
         where tenant_id = $1 and target_id = $2 and source_type = 'episode' and relation = 'supports')
     select coalesce(e.trust, 'tool') as trust, coalesce(e.session_id, (select v.payload #>> '{row,session_id}' from memory_events v
         where v.tenant_id = $1 and v.entity_id = k.episode and v.event_type = 'episode.stored' limit 1)) as session,
         coalesce(e.occurred_at, $5::timestamptz) as at, false as reads
       from links k left join episodes e on e.id = k.episode and e.tenant_id = $1
     union all
     select $4, nullif(substr($3, 9), ''), $5, false where $3 like 'session:%' or not exists (select from links)
     union all
     select 'agent', v.session_id, v.occurred_at, true from memory_events v
       where v.tenant_id = $1 and v.event_type = 'memory.referenced'
         and jsonb_path_query_array(v.payload, '$.references[*].id') ? $2::text`,
    [tenant, id, source.startsWith("session:") ? source : "", trust, created_at],
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
