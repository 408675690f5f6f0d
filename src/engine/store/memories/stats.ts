/** Counts for `memory_stats`, in one statement. */
import type { Sql } from "../../adapters/db/port.ts";
import { effective, hasBegun, isInTime, isKept, isLive, isNotLive } from "./live.ts";

type Counts = Record<string, number>;

export interface StoredStats {
  readonly by_tier: Counts;
  readonly by_status: Counts;
  readonly backlog: number;
  readonly oldest_pending: Date | null;
  /** 95 % of those that wait, have waited less long than this. */
  readonly pending_p95_hours: number | null;
  readonly runs: { readonly done: number; readonly failed: number; readonly cost_usd: number };
  /** Set while episodes wait and no run since the last that learned has ended well. */
  readonly failing: Failing | null;
  /** How old episodes of the last week were when they had been learned from. */
  readonly learned_p95_hours: number | null;
  readonly fact_states: Counts;
  /** Facts whose day lies ahead; in none of the states yet. */
  readonly facts_waiting: number;
  readonly histogram: readonly number[];
  readonly rule_maturity: Counts;
  readonly effectiveness: number | null;
  readonly applications: number;
  readonly links: number;
  readonly events: number;
  readonly stored: number;
  readonly repeated: number;
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

export async function readStats(sql: Sql, query: StatsQuery): Promise<StoredStats> {
  const [row] = await sql.query<StoredStats>(
    `with e as materialized (
       select tier, consolidation_status, created_at, ${isInTime("", "$3")} as live from episodes
       where tenant_id = $1 and ($2::text[] is null or butler = any($2::text[])) and ${isKept()}
         and (${isInTime("", "$3")} or consolidation_status <> 'consolidated')),
     f as materialized (
       select validity, ${effective("", "$3::timestamptz")} as effective
       from facts where tenant_id = $1 and ($2::text[] is null or scope = any($2::text[]))
         and (${hasBegun("", "$3")} or ${isNotLive()})),
     r as materialized (
       select maturity, effectiveness_score, applied_count from rules
       where tenant_id = $1 and ($2::text[] is null or scope = any($2::text[])) and ${isLive()}),
     s as materialized (
       select id from episodes where tenant_id = $1 and butler = any($2::text[])
       union all select id from facts where tenant_id = $1 and scope = any($2::text[])
       union all select id from rules where tenant_id = $1 and scope = any($2::text[])),
     u as materialized (
       select id, state, provider, started_at, error from consolidation_runs
       where tenant_id = $1 and ($2::text[] is null or butler = any($2::text[])) and provider <> 'agent')
     select
       (select coalesce(jsonb_object_agg(tier, n), '{}') from (select tier, count(*) n from e where live group by 1) t) as by_tier,
       (select coalesce(jsonb_object_agg(consolidation_status, n), '{}')
          from (select consolidation_status, count(*) n from e group by 1) t) as by_status,
       (select count(*)::int4 from e where consolidation_status = 'pending') as backlog,
       (select min(created_at) from e where consolidation_status = 'pending') as oldest_pending,
       (select percentile_cont(0.95) within group (order by extract(epoch from ($3::timestamptz - created_at))::float8)
          / 3600 from e where consolidation_status = 'pending') as pending_p95_hours,
       (select jsonb_build_object('done', count(*) filter (where state = 'done'),
            'failed', count(*) filter (where state in ('failed', 'lost')), 'cost_usd', coalesce(sum(cost_usd), 0))
          from consolidation_runs where tenant_id = $1 and ($2::text[] is null or butler = any($2::text[]))) as runs,
       (select jsonb_build_object('runs', count(*), 'since', to_char(min(started_at) at time zone 'UTC',
              'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
            'provider', (array_agg(provider order by started_at desc, id desc))[1],
            'reason', coalesce((array_agg(error order by started_at desc, id desc))[1], 'no reason was given'))
          from u where state in ('failed', 'released') and exists (select from e where consolidation_status = 'pending')
            and (started_at, id) > (select started_at, id from u where state = 'done'
              union all select '-infinity', '00000000-0000-0000-0000-000000000000' order by 1 desc, 2 desc limit 1)
          having count(*) > 0) as failing,
       (select percentile_cont(0.95) within group (order by extract(epoch from (u.finished_at - m.created_at))::float8)
          / 3600 from consolidation_runs u cross join unnest(u.episode_ids) as i (id) join episodes m on m.id = i.id
          where u.tenant_id = $1 and ($2::text[] is null or u.butler = any($2::text[])) and u.state = 'done'
            and u.finished_at > $3::timestamptz - interval '7 days') as learned_p95_hours,
       (select coalesce(jsonb_object_agg(validity, n), '{}') from (select validity, count(*) n from f group by 1) t)
         as fact_states,
       (select count(*)::int4 from facts where tenant_id = $1 and ($2::text[] is null or scope = any($2::text[]))
          and waits_until > $3 and ${isLive()}) as facts_waiting,
       (select jsonb_agg(coalesce(n, 0) order by bucket) from generate_series(0, 9) bucket left join (
          select least(9, floor(effective * 10))::int4 as bucket, count(*) n from f
          where ${isLive()} group by 1) h using (bucket)) as histogram,
       (select coalesce(jsonb_object_agg(maturity, n), '{}') from (select maturity, count(*) n from r group by 1) t)
         as rule_maturity,
       (select avg(effectiveness_score) from r where applied_count > 0) as effectiveness,
       (select coalesce(sum(applied_count), 0)::int4 from r) as applications,
       (select count(*)::int4 from memory_links l where l.tenant_id = $1 and ($2::text[] is null
          or (exists (select from s where s.id = l.source_id) and exists (select from s where s.id = l.target_id)))) as links,
       t.events, t.stored, t.repeated
     from (select coalesce(sum(n), 0)::int4 as events,
         coalesce(sum(n) filter (where event_type in ('episode.stored', 'fact.stored', 'rule.stored')), 0)::int4 as stored,
         coalesce(sum(n) filter (where event_type in ('episode.repeated', 'fact.repeated', 'rule.repeated')), 0)::int4 as repeated
       from event_totals where tenant_id = $1 and ($2::text[] is null or scope = any($2::text[]))) t`,
    [query.tenant, query.scopes ?? null, query.now],
  );
  if (!row) throw new Error("statistics returned no row");
  return row;
}
