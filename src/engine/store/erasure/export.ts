/** Everything that is known of some memories, for the person whom they are about. */
import type { Sql } from "../../adapters/db/port.ts";

export interface Exported {
  readonly type: "episode" | "fact" | "rule";
  readonly id: string;
  readonly scope: string;
  readonly state: string;
  readonly subject: string | null;
  readonly predicate: string | null;
  readonly content: string;
  readonly summary: string | null;
  readonly speaker: string | null;
  readonly session_id: string | null;
  readonly confidence: number | null;
  readonly trust: string;
  readonly source: string;
  readonly importance: number;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  readonly valid_from: Date | null;
  readonly valid_to: Date | null;
  readonly forgotten_at: Date | null;
  readonly links: readonly { readonly relation: string; readonly from: string; readonly to: string }[];
  readonly events: readonly { readonly event: string; readonly at: string; readonly by: string }[];
}

const LINKS = `coalesce((select jsonb_agg(jsonb_build_object('relation', l.relation, 'from', l.source_id, 'to', l.target_id)
  order by l.created_at, l.relation) from memory_links l where l.tenant_id = m.tenant_id and m.id in (l.source_id, l.target_id)), '[]') as links`;

const EVENTS = `coalesce((select jsonb_agg(jsonb_build_object('event', e.event_type, 'at', e.occurred_at, 'by', e.actor) order by e.seq)
  from memory_events e where e.tenant_id = m.tenant_id and e.entity_id = m.id), '[]') as events`;

const COMMON = `m.trust, m.source, m.importance, m.tags, m.metadata, m.created_at`;

/** Oldest first. What was deleted by time is not among them: its row is gone. */
export function exportMemories(sql: Sql, tenant: string, ids: readonly string[]): Promise<Exported[]> {
  return sql.query<Exported>(
    `select * from (
       select 'fact' as type, m.id, m.scope, m.validity as state, m.subject_text as subject, m.predicate_text as predicate, m.content,
         null as summary, null as speaker, null as session_id, m.confidence, ${COMMON}, m.valid_from, m.valid_to, m.forgotten_at,
         ${LINKS}, ${EVENTS} from facts m where m.tenant_id = $1 and m.id = any($2::uuid[])
       union all
       select 'rule', m.id, m.scope, m.validity, null, null, m.content, null, null, null, m.confidence, ${COMMON}, null, null,
         m.forgotten_at, ${LINKS}, ${EVENTS} from rules m where m.tenant_id = $1 and m.id = any($2::uuid[])
       union all
       select 'episode', m.id, m.butler, m.validity, null, null, m.content, m.summary, m.speaker, m.session_id, null, ${COMMON}, null, null,
         m.forgotten_at, ${LINKS}, ${EVENTS} from episodes m where m.tenant_id = $1 and m.id = any($2::uuid[])) as all_of_them
     order by created_at, id`,
    [tenant, ids],
  );
}
