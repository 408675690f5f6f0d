/** Numbers of a whole store, over all tenants, for whoever runs it. */
import type { Db, Sql } from "../../adapters/db/port.ts";
import type { JobSample, ServerSample, StoreSample, StoreSizes } from "../../domain/health/measurements.ts";
import { DAY_MS } from "../../domain/lifecycle/decay.ts";
import { coveredUntil } from "../../domain/partitions.ts";
import { heldBy, partsOfAll } from "../partitions/parts.ts";

interface SampleRow extends Omit<StoreSample, "at" | "jobs" | "server"> {
  readonly jobs: readonly (Omit<JobSample, "started_at" | "finished_at"> & {
    readonly started_at: string;
    readonly finished_at: string | null;
  })[];
}

/** One statement, each part of which reads an index: it is asked every few seconds. */
export async function readSample(db: Db, now: Date): Promise<StoreSample> {
  const day = new Date(`${now.toISOString().slice(0, 10)}T00:00:00Z`);
  const [[row], server] = await Promise.all([
    db.query<SampleRow>(
      `with u as materialized (
         select id, state, provider, started_at from consolidation_runs
         where started_at > $2::timestamptz - interval '7 days' and provider <> 'agent')
       select
         (select count(*)::int4 from episodes where consolidation_status = 'pending' and validity = 'active') as backlog,
         (select min(created_at) from episodes where consolidation_status = 'pending' and validity = 'active')
           as oldest_pending,
         (select count(*)::int4 from episodes where consolidation_status in ('failed', 'dead_letter')
            and validity = 'active') as dead_letters,
         (select count(*)::int4 from job_runs where state = 'waiting') as jobs_waiting,
         (select coalesce(jsonb_agg(jsonb_build_object('job', job, 'state', state, 'started_at', started_at,
              'finished_at', finished_at)), '[]')
            from (select distinct on (job) job, state, started_at, finished_at from job_runs where state <> 'waiting'
              order by job, started_at desc, id desc) latest) as jobs,
         (select coalesce(sum(greatest(cost_usd, case when state = 'running' then reserved_usd else 0 end)), 0)::float8
            from consolidation_runs where started_at >= $1 and (cost_usd > 0 or reserved_usd > 0)) as spent_usd,
         (select jsonb_build_object('since', to_char(min(started_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
              'provider', (array_agg(provider order by started_at desc, id desc))[1])
            from u where state in ('failed', 'released')
              and exists (select from episodes where consolidation_status = 'pending' and validity = 'active')
              and (started_at, id) > (select started_at, id from u where state = 'done'
                union all select '-infinity', '00000000-0000-0000-0000-000000000000' order by 1 desc, 2 desc limit 1)
            having count(*) > 0) as failing`,
      [day, now],
    ),
    db.kind === "postgres" ? readServer(db, now) : null,
  ]);
  if (!row) throw new Error("the store told no numbers");
  const jobs = row.jobs.map((job) => ({
    ...job,
    started_at: new Date(job.started_at),
    finished_at: job.finished_at === null ? null : new Date(job.finished_at),
  }));
  return { ...row, at: now, jobs, server };
}

/** A user without the role pg_monitor sees the rows of replicas, but not their lag. */
async function readServer(sql: Sql, now: Date): Promise<ServerSample> {
  const numbers = sql.query<Omit<ServerSample, "partitions_ahead_days">>(
    `select (select count(*)::int4 from pg_stat_activity where backend_type = 'client backend' or backend_type is null) as connections,
       current_setting('max_connections')::int4 as max_connections,
       (select count(*)::int4 from pg_stat_replication) as replicas,
       (select max(case when pg_has_role('pg_monitor', 'usage')
            then coalesce(extract(epoch from replay_lag), 0) end)::float8 from pg_stat_replication) as replica_lag_seconds`,
  );
  const [[row], parts] = await Promise.all([numbers, partsOfAll(sql)]);
  if (!row) throw new Error("the server told no numbers");
  const days = parts.map((each) => (coveredUntil(each, now).getTime() - now.getTime()) / DAY_MS);
  return { ...row, partitions_ahead_days: days.length === 0 ? null : Math.min(...days) };
}

const TABLES = [
  "episodes",
  "facts",
  "rules",
  "memory_links",
  "memory_events",
  "embeddings",
  "lex_doc",
  "lex_block",
  "lex_long",
  "consolidation_runs",
  "job_runs",
];

/** Above this the estimate of the planner is told: nobody needs the last row of a million, and counting them takes a scan. */
const COUNTED_UP_TO = 100_000;

const rowsOf = (table: string): string =>
  `'${table}', (select case when sum(c.reltuples) > ${COUNTED_UP_TO} then sum(c.reltuples)::float8 else (select count(*) from ${table}) end
     from pg_class c where c.oid in (${heldBy(`'${table}'::regclass`)}))`;

/** Takes scans: to be asked every minute at most. */
export async function readSizes(sql: Sql, now: Date): Promise<StoreSizes> {
  const [row] = await sql.query<Omit<StoreSizes, "at">>(
    `select pg_database_size(current_database())::float8 as database_bytes,
       (select sum(pg_indexes_size(h.oid))::float8 from unnest($1::text[]) as t (name)
          cross join lateral (${heldBy("t.name::regclass")}) h) as index_bytes,
       (select coalesce(sum(n_dead_tup), 0)::float8 from pg_stat_user_tables where relid in (
          select h.oid from unnest($1::text[]) as t (name) cross join lateral (${heldBy("t.name::regclass")}) h)) as dead_rows,
       jsonb_build_object(${TABLES.map(rowsOf).join(", ")}) as rows,
       (select coalesce(jsonb_object_agg(validity, n), '{}')
          from (select validity, count(*) n from facts group by 1) f) as facts,
       (select coalesce(jsonb_object_agg(event_type, n), '{}')
          from (select event_type, sum(n)::float8 as n from event_totals group by 1) e) as events`,
    [TABLES],
  );
  if (!row) throw new Error("the store told no sizes");
  return { at: now, ...row };
}
