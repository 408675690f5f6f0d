/** What a day brought, from the events of that day and the counts of each hour; and what there is and what waits. */
import type { Sql } from "../../adapters/db/port.ts";
import { isKept, isLive } from "../memories/live.ts";
import { conditions } from "./conditions.ts";

interface Seen {
  readonly tenant: string;
  readonly scopes: readonly string[] | undefined;
  readonly now: Date;
}

export interface DayCount {
  /** When the day begins. */
  readonly day: Date;
  readonly event_type: string;
  readonly n: number;
}

/** Days of 24 hours from `first`, up to `to`. */
export function countDays(
  sql: Sql,
  { tenant, scopes }: Seen,
  types: readonly string[],
  first: Date,
  to: Date,
): Promise<DayCount[]> {
  return sql.query<DayCount>(
    `select date_bin('1 day', hour, $3::timestamptz) as day, event_type, sum(n)::int4 as n from event_hours
     where tenant_id = $1 and event_type = any($2::text[]) and hour >= $3 and hour < $4
       and ($5::text[] is null or scope = any($5::text[]))
     group by 1, 2 order by 1, 2`,
    [tenant, types, first, to, scopes ?? null],
  );
}

/** How many sessions taught something between two moments. */
export async function countTeachers(sql: Sql, { tenant, scopes }: Seen, from: Date, to: Date): Promise<number> {
  const [row] = await sql.query<{ n: number }>(
    `with learned as materialized (
       select entity_id, session_id from memory_events
       where tenant_id = $1 and event_type in ('fact.stored', 'rule.stored') and occurred_at >= $2 and occurred_at < $3
         and ($4::text[] is null or scope = any($4::text[])))
     select count(distinct session)::int4 as n from (
       select session_id as session from learned where session_id is not null
       union all select e.session_id from learned l
         join memory_links k on k.source_id = l.entity_id and k.relation = 'derived_from'
         join episodes e on e.id = k.target_id and e.tenant_id = $1 where e.session_id is not null) s`,
    [tenant, from, to, scopes ?? null],
  );
  return row?.n ?? 0;
}

export interface Waiting {
  readonly contradictions: number;
  readonly dead_letters: number;
  readonly backlog: number;
  readonly oldest: Date | null;
}

/** What waits for a person or for the next consolidation. */
export async function countWaiting(sql: Sql, { tenant, scopes }: Seen): Promise<Waiting> {
  const [row] = await sql.query<Waiting>(
    `select
       (select count(*)::int4 from memory_links l
          join facts a on a.id = l.source_id and a.validity in ('active', 'fading')
          join facts b on b.id = l.target_id and b.validity in ('active', 'fading')
          where l.tenant_id = $1 and l.relation = 'contradicts'
            and ($2::text[] is null or (a.scope = any($2::text[]) and b.scope = any($2::text[])))) as contradictions,
       (select count(*)::int4 from episodes where tenant_id = $1 and consolidation_status in ('failed', 'dead_letter')
          and validity = 'active' and ($2::text[] is null or butler = any($2::text[]))) as dead_letters,
       (select count(*)::int4 from episodes where tenant_id = $1 and consolidation_status = 'pending'
          and validity = 'active' and ($2::text[] is null or butler = any($2::text[]))) as backlog,
       (select min(created_at) from episodes where tenant_id = $1 and consolidation_status = 'pending'
          and validity = 'active' and ($2::text[] is null or butler = any($2::text[]))) as oldest`,
    [tenant, scopes ?? null],
  );
  return row ?? { contradictions: 0, dead_letters: 0, backlog: 0, oldest: null };
}

export interface HeldCounts {
  /** Without those that begin on a day ahead, as statistics count them. */
  readonly facts: number;
  readonly facts_waiting: number;
  readonly rules: number;
  readonly episodes: number;
}

/** What there is, from indexes alone: 100,000 facts and 50,000 episodes are counted in the time of one page. */
export async function countHeld(sql: Sql, { tenant, scopes, now }: Seen): Promise<HeldCounts> {
  const where = conditions();
  where.add([tenant], (one) => `tenant_id = ${one}`);
  const own = (column: string) => (scopes === undefined ? "" : ` and ${column} = any(${where.place(scopes)}::text[])`);
  const day = where.place(now);
  // The few that wait have an index of their own; whether a fact is one of them is in no index of all facts.
  const [row] = await sql.query<HeldCounts & { live: number }>(
    `select (select count(*)::int4 from facts where ${where.sql()} and ${isLive()}${own("scope")}) as live,
       (select count(*)::int4 from facts where ${where.sql()} and ${isLive()} and waits_until is not null
          and waits_until > ${day}::timestamptz${own("scope")}) as facts_waiting,
       (select count(*)::int4 from rules where ${where.sql()} and ${isLive()}${own("scope")}) as rules,
       (select count(*)::int4 from episodes where ${where.sql()} and ${isKept()}${own("butler")}) as episodes`,
    where.params,
  );
  const { live = 0, facts_waiting = 0, rules = 0, episodes = 0 } = row ?? {};
  return { facts: live - facts_waiting, facts_waiting, rules, episodes };
}
