/**
 * Counts for `memory_stats`, in two statements: what reads every row is counted by scope, so that one reading does for all scopes; what
 * is found by an index is read for the scopes that are asked for.
 */
import type { Sql } from "../../adapters/db/port.ts";
import { effective, hasBegun, isInTime, isKept, isLive, isNotLive } from "./live.ts";

/** How many `name`s of this sort a scope has; `effect` is a sum of scores. */
export interface Counted {
  readonly what:
    | "tier"
    | "status"
    | "state"
    | "tenth"
    | "maturity"
    | "effect"
    | "applied"
    | "applications"
    | "links"
    | "event";
  readonly scope: string;
  readonly name: string;
  readonly n: number;
}

export interface StoredStats {
  readonly backlog: number;
  readonly oldest_pending: Date | null;
  /** 95 % of those that wait, have waited less long than this. */
  readonly pending_p95_hours: number | null;
  readonly runs: { readonly done: number; readonly failed: number; readonly cost_usd: number };
  /** Set while episodes wait and no run since the last that learned has ended well. */
  readonly failing: Failing | null;
  /** How old episodes of the last week were when they had been learned from. */
  readonly learned_p95_hours: number | null;
  /** Facts whose day lies ahead; in none of the states yet. */
  readonly facts_waiting: number;
}

export interface Failing {
  readonly runs: number;
  /** ISO time of the first of them. */
  readonly since: string;
  readonly provider: string;
  readonly reason: string;
}

export interface StatsQuery {
  readonly tenant: string;
  readonly scopes: readonly string[] | undefined;
  readonly now: Date;
}

export function countByScope(sql: Sql, query: StatsQuery): Promise<Counted[]> {
  return sql.query<Counted>(
    `with e as materialized (
       select butler as scope, tier, consolidation_status, ${isInTime("", "$3")} as live, count(*) as n from episodes
       where tenant_id = $1 and ($2::text[] is null or butler = any($2::text[])) and ${isKept()}
         and (${isInTime("", "$3")} or consolidation_status <> 'consolidated')
       group by 1, 2, 3, 4),
     f as materialized (
       select scope, validity, count(*) as n,
         case when ${isLive()} then least(9, floor(${effective("", "$3::timestamptz")} * 10))::int4 end as tenth
       from facts where tenant_id = $1 and ($2::text[] is null or scope = any($2::text[]))
         and (${hasBegun("", "$3")} or ${isNotLive()})
       group by 1, 2, 4),
     r as materialized (
       select scope, maturity, count(*) as n, sum(effectiveness_score) filter (where applied_count > 0) as effect,
         count(*) filter (where applied_count > 0) as applied, sum(applied_count) as applications
       from rules where tenant_id = $1 and ($2::text[] is null or scope = any($2::text[])) and ${isLive()}
       group by 1, 2),
     m as materialized (
       select id, scope from facts where tenant_id = $1 and ($2::text[] is null or scope = any($2::text[]))
       union all select id, scope from rules where tenant_id = $1 and ($2::text[] is null or scope = any($2::text[]))
       union all select id, butler from episodes where tenant_id = $1 and ($2::text[] is null or butler = any($2::text[])))
     select 'tier' as what, scope, tier as name, sum(n)::float8 as n from e where live group by scope, tier
     union all select 'status', scope, consolidation_status, sum(n)::float8 from e group by scope, consolidation_status
     union all select 'state', scope, validity, sum(n)::float8 from f group by scope, validity
     union all select 'tenth', scope, tenth::text, sum(n)::float8 from f where tenth is not null group by scope, tenth
     union all select 'maturity', scope, maturity, n::float8 from r
     union all select 'effect', scope, '', sum(effect)::float8 from r where effect is not null group by scope
     union all select 'applied', scope, '', sum(applied)::float8 from r group by scope
     union all select 'applications', scope, '', sum(applications)::float8 from r group by scope
     union all select 'links', m.scope, '', count(*)::float8 from memory_links l join m on m.id = l.source_id
       where l.tenant_id = $1 group by m.scope
     union all select 'event', scope, event_type, n::float8 from event_totals
       where tenant_id = $1 and ($2::text[] is null or scope = any($2::text[]))`,
    [query.tenant, query.scopes ?? null, query.now],
  );
}

export async function readStats(sql: Sql, query: StatsQuery): Promise<StoredStats> {
  const [row] = await sql.query<StoredStats>(
    `with w as materialized (
       select created_at from episodes
       where tenant_id = $1 and ($2::text[] is null or butler = any($2::text[])) and ${isKept()}
         and consolidation_status = 'pending'),
     u as materialized (
       select id, state, provider, started_at, error from consolidation_runs
       where tenant_id = $1 and ($2::text[] is null or butler = any($2::text[])) and provider <> 'agent')
     select
       (select count(*)::int4 from w) as backlog,
       (select min(created_at) from w) as oldest_pending,
       (select percentile_cont(0.95) within group (order by extract(epoch from ($3::timestamptz - created_at))::float8)
          / 3600 from w) as pending_p95_hours,
       (select jsonb_build_object('done', count(*) filter (where state = 'done'),
            'failed', count(*) filter (where state in ('failed', 'lost')), 'cost_usd', coalesce(sum(cost_usd), 0))
          from consolidation_runs where tenant_id = $1 and ($2::text[] is null or butler = any($2::text[]))) as runs,
       (select jsonb_build_object('runs', count(*), 'since', to_char(min(started_at) at time zone 'UTC',
              'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
            'provider', (array_agg(provider order by started_at desc, id desc))[1],
            'reason', coalesce((array_agg(error order by started_at desc, id desc))[1], 'no reason was given'))
          from u where state in ('failed', 'released') and exists (select from w)
            and (started_at, id) > (select started_at, id from u where state = 'done'
              union all select '-infinity', '00000000-0000-0000-0000-000000000000' order by 1 desc, 2 desc limit 1)
          having count(*) > 0) as failing,
       (select percentile_cont(0.95) within group (order by extract(epoch from (u.finished_at - m.created_at))::float8)
          / 3600 from consolidation_runs u cross join unnest(u.episode_ids) as i (id) join episodes m on m.id = i.id
          where u.tenant_id = $1 and ($2::text[] is null or u.butler = any($2::text[])) and u.state = 'done'
            and u.finished_at > $3::timestamptz - interval '7 days') as learned_p95_hours,
       (select count(*)::int4 from facts where tenant_id = $1 and ($2::text[] is null or scope = any($2::text[]))
          and waits_until > $3 and ${isLive()}) as facts_waiting`,
    [query.tenant, query.scopes ?? null, query.now],
  );
  if (!row) throw new Error("statistics returned no row");
  return row;
}
