/** Which memories an erasure takes. Deleted episodes are found by their events: the stream still holds their words. */
import type { Sql } from "../../adapters/db/port.ts";

export interface Erased {
  readonly type: "episode" | "fact" | "rule";
  readonly id: string;
}

export interface Of {
  readonly tenant: string;
  /** Undefined: every scope of the tenant. */
  readonly scopes: readonly string[] | undefined;
}

const STORED = (
  type: string,
) => `select '${type}' as type, e.entity_id as id, e.scope, e.payload -> 'row' as row, e.session_id
  from memory_events e where e.tenant_id = $1 and e.event_type = '${type}.stored' and e.payload ? 'row'`;

const ALL = `${STORED("episode")} union all ${STORED("fact")} union all ${STORED("rule")}`;

const seen = "($2::text[] is null or scope = any($2::text[]))";

export function memoriesById(sql: Sql, { tenant, scopes }: Of, id: string): Promise<Erased[]> {
  return sql.query<Erased>(
    `select entity_type as type, entity_id as id from memory_events
     where tenant_id = $1 and ${seen} and entity_id = $3 and event_type = entity_type || '.stored' and payload ? 'row'`,
    [tenant, scopes ?? null, id],
  );
}

/** What was said in the session, and what it has stored itself. */
export function memoriesBySession(sql: Sql, { tenant, scopes }: Of, session: string): Promise<Erased[]> {
  return sql.query<Erased>(
    `select distinct type, id from (${ALL}) as m
     where ${seen} and (m.row ->> 'session_id' = $3 or m.session_id = $3 or m.row ->> 'source' = 'session:' || $3)`,
    [tenant, scopes ?? null, session],
  );
}

/**
 * Facts about the subject and the episodes that taught or support them; and where `named` is a pattern, everything that names the
 * subject in its words.
 */
export function memoriesBySubject(
  sql: Sql,
  { tenant, scopes }: Of,
  subject: string,
  named: string | undefined,
): Promise<Erased[]> {
  return sql.query<Erased>(
    `with m as materialized (select * from (${ALL}) as m where ${seen}),
     about as (select type, id from m where type = 'fact' and m.row ->> 'subject' = $3),
     linked as (
       select l.target_id as id from memory_links l join about a on a.id = l.source_id
         where l.tenant_id = $1 and l.relation = 'derived_from'
       union select l.source_id from memory_links l join about a on a.id = l.target_id
         where l.tenant_id = $1 and l.relation = 'supports' and l.source_type = 'episode')
     select type, id from about
     union select m.type, m.id from m join linked using (id) where m.type = 'episode'
     union select m.type, m.id from m where $4::text is not null and (concat_ws(' ', m.row ->> 'content', m.row ->> 'speaker',
       m.row ->> 'subject_text', m.row ->> 'predicate_text', m.row ->> 'tags', m.row ->> 'metadata', m.row ->> 'matcher') ~* $4)`,
    [tenant, scopes ?? null, subject, named ?? null],
  );
}

export function rulesTold(sql: Sql, { tenant, scopes }: Of): Promise<{ id: string; content: string }[]> {
  return sql.query(`select id, content from rules where tenant_id = $1 and ${seen}`, [tenant, scopes ?? null]);
}

/** Facts and rules that were learned from these episodes and from no other. */
export function learnedFromAlone(sql: Sql, tenant: string, ids: readonly string[]): Promise<Erased[]> {
  return sql.query<Erased>(
    `with sources as (
       select source_type as type, source_id as id, target_id as episode from memory_links
         where tenant_id = $1 and relation = 'derived_from'
           and source_id in (select source_id from memory_links where tenant_id = $1 and target_id = any($2::uuid[]))
       union select 'fact', id, source_episode_id from facts where tenant_id = $1 and source_episode_id = any($2::uuid[])
       union select 'rule', id, source_episode_id from rules where tenant_id = $1 and source_episode_id = any($2::uuid[]))
     select type, id from sources where type in ('fact', 'rule') and id <> all($2::uuid[])
     group by type, id having bool_and(episode = any($2::uuid[]))`,
    [tenant, ids],
  );
}

/** Sessions in which these memories were said, stored or learned: their beginnings stand in the log of sessions. */
export async function sessionsAround(sql: Sql, tenant: string, ids: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ session: string }>(
    `with around as (
       select unnest($2::uuid[]) as id
       union select target_id from memory_links where tenant_id = $1 and source_id = any($2::uuid[]) and target_type = 'episode'
       union select source_id from memory_links where tenant_id = $1 and target_id = any($2::uuid[]) and source_type = 'episode')
     select distinct s.session from around join memory_events e on e.tenant_id = $1 and e.entity_id = around.id
       and e.event_type like '%.stored', lateral (values (e.session_id), (e.payload -> 'row' ->> 'session_id')) as s (session)
     where s.session is not null order by 1`,
    [tenant, ids],
  );
  return rows.map(({ session }) => session);
}

/** Held until the transaction ends: a writer that rests on one of them comes before, and is seen, or after, and finds it gone. */
export async function lockMemories(sql: Sql, tenant: string, ids: readonly string[]): Promise<void> {
  for (const table of ["episodes", "facts", "rules"])
    await sql.query(`select 1 from ${table} where tenant_id = $1 and id = any($2::uuid[]) order by id for update`, [
      tenant,
      ids,
    ]);
}

export async function marksOfSession(sql: Sql, tenant: string, session: string): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    "select id from rule_applications where tenant_id = $1 and session_id = $2 and note is not null",
    [tenant, session],
  );
  return rows.map(({ id }) => id);
}
