/** What the stream says of a moment in the past, and who had spoken until then, as every event was folded before there were timelines. */

import type { Sql } from "../../../src/engine/adapters/db/port.ts";
import type { MemoryType } from "../../../src/engine/domain/memory-types.ts";
import type { RowJson } from "../../../src/engine/domain/replay.ts";
import { isFiled } from "../../../src/engine/store/memories/live.ts";

export interface PastQuery {
  readonly tenant: string;
  /** Undefined: every scope of the tenant. */
  readonly scopes: readonly string[] | undefined;
  readonly types: readonly MemoryType[];
  readonly until: Date;
}

/** One event, without what a ranking does not need. */
export interface PastStep {
  readonly seq: string;
  readonly type: MemoryType;
  readonly id: string;
  readonly scope: string;
  readonly deleted: boolean;
  readonly row: RowJson | null;
  readonly set: RowJson | null;
  /** It was stored with a question mark at its end: the words themselves are mostly left out. */
  readonly asks: boolean;
  /** Its words as the index has them; null when it is not in the keyword index now, and then `row` holds its text. */
  readonly len: number | null;
  readonly x: Uint8Array | null;
}

/** Together more than half of a row's bytes, and no part of finding or ranking it. */
const LEFT_OUT = `'{metadata,matcher,content_key,original_content,forget_reason,request_id,source,source_butler,
  source_episode_id,last_consolidation_error,forgotten_at}'::text[]`;

const TEXTS = `'{content,summary}'::text[]`;

/**
 * Episodes and facts never change their words, so those that are still in the keyword index bring them from there:
 * splitting and stemming 10,000 texts of 40 words took 1.3 s, reading their words 0.1 s.
 */
export async function pastSteps(sql: Sql, query: PastQuery, after: string, limit: number): Promise<PastStep[]> {
  return sql.query<PastStep>(
    `with page as materialized (
       select e.seq, e.entity_type, e.entity_id, e.scope, e.event_type, e.payload,
         e.event_type = e.entity_type || '.stored' as creation
       from memory_events e
       where e.tenant_id = $1 and e.seq > $2::int8 and e.entity_type = any($3::text[])
         and ($4::text[] is null or e.scope = any($4::text[])) and e.occurred_at <= $5
         and (e.payload ?| '{row,set}'::text[] or e.event_type = 'episode.deleted')
       order by e.seq limit $6)
     select p.seq, p.entity_type as type, p.entity_id as id, p.scope, p.event_type = 'episode.deleted' as deleted,
       case when p.creation then (p.payload -> 'row') - ${LEFT_OUT}
         - (case when d.x is null then '{}'::text[] else ${TEXTS} end) end as row,
       (p.payload -> 'set') - ${LEFT_OUT} as set,
       p.creation and right(p.payload #>> '{row,content}', 2) like '%?%' as asks, d.len, d.x
     from page p
     left join lex_doc d on d.memory_id = p.entity_id and ${isFiled("d")} and p.creation and p.entity_type <> 'rule'
     order by p.seq`,
    [query.tenant, after, query.types, query.scopes ?? null, query.until, limit],
  );
}

/** Until when episodes lived that had been read by then: a reading moves the end of an episode's life, and never back. */
export function livesThen(sql: Sql, tenant: string, until: Date): Promise<{ id: string; expires_at: Date }[]> {
  return sql.query(
    `select r.id, max(r.expires_at) as expires_at from memory_events e
     cross join lateral jsonb_to_recordset(e.payload -> 'references') as r (id text, expires_at timestamptz)
     where e.tenant_id = $1 and e.event_type = 'memory.referenced' and e.occurred_at <= $2 and r.expires_at is not null
     group by r.id`,
    [tenant, until],
  );
}

/** Who had spoken where. */
export interface SpokenThen {
  readonly scope: string;
  readonly session: string | null;
  /** First word of the speaker's name, in lower case: see engine/store/memories/names.ts. */
  readonly name: string;
  readonly since: Date;
}

const SPEAKER = `lower(split_part(e.payload #>> '{row,speaker}', ' ', 1))`;
const SESSION = `e.payload #>> '{row,session_id}'`;

/** The people of these names and everyone in these sessions, as far as an episode of theirs was there then. */
export function speakersThen(
  sql: Sql,
  tenant: string,
  wanted: { readonly names: readonly string[]; readonly sessions: readonly string[] },
  until: Date,
): Promise<SpokenThen[]> {
  return sql.query<SpokenThen>(
    `select e.scope, ${SESSION} as session, ${SPEAKER} as name, min(e.occurred_at) as since from memory_events e
     where e.tenant_id = $1 and e.event_type = 'episode.stored' and e.occurred_at <= $2
       and (${SPEAKER} = any($3::text[]) or (${SPEAKER} is not null and ${SESSION} = any($4::text[])))
       and not exists (select 1 from memory_events d
         where d.entity_id = e.entity_id and d.event_type = 'episode.deleted' and d.occurred_at <= $2)
     group by 1, 2, 3 order by 1, 2, 3`,
    [tenant, until, wanted.names, wanted.sessions],
  );
}
