/** What stands around one memory: the texts at the other ends of its links, the chain of facts it belongs to, who read it. */
import type { Sql } from "../../adapters/db/port.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import type { Fact } from "../../domain/fact.ts";

interface Seen {
  readonly tenant: string;
  readonly scopes: readonly string[] | undefined;
}

export type ChainFact = Pick<
  Fact,
  "id" | "content" | "validity" | "created_at" | "superseded_at" | "confidence" | "trust" | "supersedes_id"
>;

const CHAIN = 100;

/** The facts before and after this one, each of which took the place of the one before; oldest first, itself among them. */
export function chainOf(sql: Sql, { tenant, scopes }: Seen, id: string): Promise<ChainFact[]> {
  return sql.query<ChainFact>(
    `with recursive back (id, supersedes_id, n) as (
       select id, supersedes_id, 0 from facts where tenant_id = $1 and id = $2
       union all select f.id, f.supersedes_id, back.n + 1 from back join facts f on f.id = back.supersedes_id
         where back.n < ${CHAIN}),
     ahead (id, n) as (
       select $2::uuid, 0
       union all select f.id, ahead.n + 1 from ahead join facts f on f.supersedes_id = ahead.id where ahead.n < ${CHAIN})
     select f.id, f.content, f.validity, f.created_at, f.superseded_at, f.confidence, f.trust, f.supersedes_id from facts f
     where f.tenant_id = $1 and f.id in (select id from back union select id from ahead)
       and ($3::text[] is null or f.scope = any($3::text[]))
     order by f.created_at, f.id`,
    [tenant, id, scopes ?? null],
  );
}

export type LifeEvent = Pick<
  MemoryEvent,
  "id" | "event_type" | "occurred_at" | "actor" | "session_id" | "request_id" | "payload" | "seq"
>;

/** Latest first, without the readings. */
export function lifeOf(sql: Sql, tenant: string, id: string, until: Date, limit: number): Promise<LifeEvent[]> {
  return sql.query<LifeEvent>(
    `select seq, id, event_type, occurred_at, actor, session_id, request_id,
       jsonb_strip_nulls(jsonb_build_object('from', payload -> 'from', 'to', payload -> 'to', 'why', payload -> 'why',
         'reason', payload -> 'reason', 'run', payload -> 'run', 'superseded_by', payload -> 'superseded_by',
         'note', payload -> 'note', 'kind', payload -> 'kind')) as payload
     from memory_events where tenant_id = $1 and entity_id = $2 and occurred_at <= $3 order by seq desc limit $4`,
    [tenant, id, until, limit],
  );
}

/** Sessions and days on which an episode was referenced. */
export function readingsOfEpisode(
  sql: Sql,
  tenant: string,
  id: string,
): Promise<{ readonly session: string; readonly day: string; readonly n: number }[]> {
  return sql.query(
    `select session_id as session, day::text as day, n from episode_references
     where tenant_id = $1 and episode_id = $2 order by day desc, session_id limit 50`,
    [tenant, id],
  );
}
