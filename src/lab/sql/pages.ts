/** SQL for `butler bench pages` alone: links, marks, runs and a year of events around rows that are there already. */
import type { Db, Sql } from "../../engine/adapters/db/port.ts";

interface BulkRun {
  readonly id: string;
  readonly at: Date;
  /** The number of its first episode. */
  readonly from: number;
}

/** A run's decisions are the facts that name it as their source. */
export async function putRuns(
  db: Db,
  tenant: string,
  butler: string,
  runs: readonly BulkRun[],
  episodes: readonly string[],
  size: number,
): Promise<void> {
  await db.exec("create index bench_source on facts (source_episode_id)");
  for (let at = 0; at < runs.length; at += 500) {
    const some = runs.slice(at, at + 500).map((run) => ({
      id: run.id,
      started_at: run.at,
      episode_ids: episodes.slice(run.from, run.from + size),
    }));
    await db.query(
      `insert into consolidation_runs (id, tenant_id, butler, state, provider, model, episode_ids, lease_until, started_at,
         finished_at, decisions, counts, input_tokens, output_tokens, cost_usd, duration_ms)
       select u.id, $2, $3, case when ascii(right(u.id::text, 1)) = 48 then 'failed' else 'done' end, 'local', 'reader-1',
         u.episode_ids, u.started_at, u.started_at, u.started_at + interval '4 seconds',
         jsonb_build_object('changes', coalesce(f.changes, '[]'), 'dropped', '[]'::jsonb),
         jsonb_build_object('episodes', cardinality(u.episode_ids), 'facts_created', coalesce(f.n, 0)), 900, 120, 0.0004, 4000
       from jsonb_populate_recordset(null::consolidation_runs, $1::jsonb) u
       left join lateral (select count(*) as n, jsonb_agg(jsonb_build_object('kind', 'new_fact', 'id', m.id,
           'episodes', jsonb_build_array(m.source_episode_id))) as changes
         from facts m where m.source_episode_id = any(u.episode_ids)) f on true`,
      [JSON.stringify(some), tenant, butler],
    );
  }
  await db.exec("drop index bench_source");
}

const UUID = (at: string, seed: string) =>
  `(lpad(to_hex((extract(epoch from ${at}) * 1000)::int8), 12, '0') || '7' || substr(md5(${seed}), 1, 3) || '8'
    || substr(md5(${seed}), 4, 15))::uuid`;

/** Each mark of a rule at a time of its own between its birth and its last mark. */
export async function putMarks(db: Db): Promise<void> {
  await db.exec(`insert into rule_applications (id, tenant_id, rule_id, outcome, session_id, note, actor, created_at)
    select ${UUID("m.at", "r.id::text || m.n")}, r.tenant_id, r.id,
      case when m.n <= r.success_count then 'helpful' else 'harmful' end, 'bench-' || m.n,
      case when m.n > r.success_count then 'It broke the build.' end, 'token:agent', m.at
    from rules r cross join lateral (select n, r.created_at + (r.last_applied_at - r.created_at) * n / (r.applied_count + 1) as at
      from generate_series(1, r.applied_count) n) m`);
}

/** Sources, chains, one more witness for every fifth, neighbours, and a contradiction for one in two hundred. */
export async function putLinks(db: Db): Promise<void> {
  const link = (source: string, relation: string, target: string, rest: string) =>
    `insert into memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
     select a.tenant_id, '${source}', ${relation === "supports" ? "b.id, 'fact', a.id" : `a.id, '${target}', b.id`}, '${relation}', a.created_at
     ${rest} on conflict do nothing`;
  const next = (
    every: number,
  ) => `from (select *, lead(id) over (order by subject, id) as other, row_number() over (order by id) as n
     from facts where validity in ('active', 'fading')) a join facts b on b.id = a.other where a.n % ${every} = 0`;
  await db.exec(
    [
      link("fact", "derived_from", "episode", "from facts a join episodes b on b.id = a.source_episode_id"),
      link("fact", "supersedes", "fact", "from facts a join facts b on b.id = a.supersedes_id"),
      link(
        "episode",
        "supports",
        "fact",
        `from (select *, row_number() over (order by id) as n from facts) a
        join (select id, row_number() over (order by id) as n from episodes) b on b.n * 2 = a.n and a.n % 10 < 4`,
      ),
      link("fact", "related_to", "fact", next(5)),
      link("fact", "contradicts", "fact", next(200)),
    ].join(";\n"),
  );
}

/** Writes down what happened to every memory, and fills up with readings and confirmations to the number that was asked for. */
export async function planEvents(db: Db, total: number, now: Date): Promise<void> {
  const at = `timestamptz '${now.toISOString()}'`;
  const add = (
    kind: string,
    when: string,
    rest: string,
    { scope = "scope", other = "null::uuid", session = "null", actor = "job:consolidate" } = {},
  ) =>
    `insert into bench_events select least(${when}, ${at}), '${kind}', id, ${scope}, ${other}, ${session}, '${actor}' from ${rest}`;
  const episode = { scope: "butler" };
  await db.exec(
    [
      "drop table if exists bench_events, bench_facts",
      `create unlogged table bench_events (at timestamptz, kind text, id uuid, scope text, other uuid, session text, actor text)`,
      `create unlogged table bench_facts (n int4 primary key, id uuid, scope text, created_at timestamptz)`,
      "insert into bench_facts select row_number() over (order by id), id, scope, created_at from facts",
      "analyze bench_facts",
      "select setseed(0.42)",
      add("episode.stored", "created_at", "episodes", { ...episode, session: "session_id", actor: "token:agent" }),
      add(
        "episode.consolidated",
        "created_at + interval '2 hours'",
        "episodes where consolidation_status = 'consolidated'",
        episode,
      ),
      add(
        "episode.dead_lettered",
        "created_at + interval '1 day'",
        "episodes where consolidation_status in ('failed', 'dead_letter')",
        episode,
      ),
      add("fact.stored", "created_at", "facts where source <> 'manual'"),
      add("fact.stored", "created_at", "facts where source = 'manual'", {
        session: "'bench-' || (ascii(right(id::text, 1)) % 9)",
        actor: "token:agent",
      }),
      add("fact.superseded", "superseded_at", "facts f where superseded_at is not null", {
        other: "(select s.id from facts s where s.supersedes_id = f.id limit 1)",
      }),
      add("fact.faded", "last_confirmed_at + interval '55 days'", "facts where validity = 'fading'", {
        actor: "job:decay_sweep",
      }),
      add("fact.expired", "last_confirmed_at + interval '100 days'", "facts where validity = 'expired'", {
        actor: "job:decay_sweep",
      }),
      add("fact.forgotten", "forgotten_at", "facts where validity = 'retracted'", { actor: "token:root" }),
      add("rule.stored", "created_at", "rules", { actor: "token:agent" }),
      `insert into bench_events select a.created_at, 'rule.marked_' || a.outcome, a.rule_id, r.scope, a.id, a.session_id, a.actor
         from rule_applications a join rules r on r.id = a.rule_id`,
      add("consolidation.done", "started_at", "consolidation_runs where state = 'done'", episode),
      add("consolidation.failed", "started_at", "consolidation_runs where state = 'failed'", episode),
    ].join(";\n"),
  );
  await unhurried(
    db,
    `with filler as materialized (
       select n, random() as luck, 1 + floor(random() * (select count(*) from bench_facts))::int4 as fact, random() as share
       from generate_series(1, greatest(0, $1::int4 - (select count(*)::int4 from bench_events))) n)
     insert into bench_events
     select case when luck < 0.6 then $2::timestamptz - interval '365 days' * share
         else f.created_at + ($2::timestamptz - f.created_at) * share end,
       case when luck < 0.6 then 'memory.referenced' when luck < 0.85 then 'fact.confirmed' else 'fact.repeated' end,
       case when luck < 0.6 then ${UUID("$2::timestamptz", "'read' || filler.n")} else f.id end,
       f.scope, null, case when luck < 0.6 then 'bench-' || fact % 2500 end, 'token:agent'
     from filler join bench_facts f on f.n = filler.fact`,
    [total, now],
  );
  await db.exec("create index bench_events_at on bench_events (at); analyze bench_events");
}

/** Ten million events take longer than a statement usually may. */
const unhurried = (db: Db, statement: string, params: readonly unknown[]) =>
  db.tx(async (sql) => {
    await sql.query("set local statement_timeout = 0");
    await sql.query(statement, params);
  });

/** As the row was when it was stored. */
const NEWBORN = `|| jsonb_build_object('reference_count', 0, 'last_referenced_at', null, 'validity', 'active', 'forgotten_at', null, 'forget_reason', null)`;
const CONFIRMED = (alias: string) => `|| jsonb_build_object('last_confirmed_at', ${alias}.created_at)`;
const LINK = (
  relation: string,
  type: string,
  target: string,
) => `case when ${target} is null then '[]'::jsonb else jsonb_build_array(
  jsonb_build_object('tenant_id', f.tenant_id, 'source_type', 'fact', 'source_id', f.id, 'target_type', '${type}', 'target_id', ${target},
    'relation', '${relation}', 'created_at', f.created_at, 'request_id', null)) end`;

/** The events of a part of the year, in the order of their times. Four memories are read at a time. */
export async function putEvents(db: Db, tenant: string, butler: string, from: Date, to: Date): Promise<void> {
  await unhurried(
    db,
    `insert into memory_events (id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor, session_id, payload)
     select ${UUID("e.at", "e.id::text || e.kind || e.at || random()")}, $1, $2, e.scope, e.kind,
       case split_part(e.kind, '.', 1) when 'memory' then 'read' else split_part(e.kind, '.', 1) end, e.id, e.at, e.actor, e.session,
       case e.kind
         when 'episode.stored' then jsonb_build_object('redactions', 0, 'row', to_jsonb(p) - 'consolidated' ${NEWBORN}
           || jsonb_build_object('tier', 'eden', 'consolidation_status', 'pending', 'consolidation_attempts', 0, 'last_consolidation_error', null))
         when 'fact.stored' then jsonb_build_object('redactions', 0, 'row', to_jsonb(f) ${NEWBORN} ${CONFIRMED("f")}
             || jsonb_build_object('superseded_at', null),
           'links', ${LINK("derived_from", "episode", "f.source_episode_id")} || ${LINK("supersedes", "fact", "f.supersedes_id")})
           || case when f.source like 'consolidation:%' then jsonb_build_object('run', substr(f.source, 15)) else '{}' end
         when 'rule.stored' then jsonb_build_object('redactions', 0, 'links', '[]'::jsonb, 'row', to_jsonb(r) ${NEWBORN} ${CONFIRMED("r")}
           || jsonb_build_object('maturity', 'candidate', 'success_count', 0, 'harmful_count', 0, 'applied_count', 0))
         when 'fact.superseded' then jsonb_build_object('from', 'active', 'superseded_by', e.other,
           'set', jsonb_build_object('validity', 'superseded', 'superseded_at', e.at))
         when 'fact.forgotten' then jsonb_build_object('from', 'active', 'set', jsonb_build_object('validity', 'retracted', 'forgotten_at', e.at))
         when 'fact.faded' then jsonb_build_object('from', 'active', 'why', 'confidence', 'set', jsonb_build_object('validity', 'fading'))
         when 'fact.expired' then jsonb_build_object('from', 'active', 'why', 'confidence', 'set', jsonb_build_object('validity', 'expired'))
         when 'fact.confirmed' then jsonb_build_object('from', 'active', 'set', jsonb_build_object('last_confirmed_at', e.at))
         when 'episode.consolidated' then jsonb_build_object('from', 'pending', 'set', jsonb_build_object('consolidation_status', 'consolidated'))
         when 'episode.dead_lettered' then jsonb_build_object('from', 'pending', 'set', jsonb_build_object('consolidation_status', 'dead_letter'))
         when 'memory.referenced' then jsonb_build_object('references', (select coalesce(jsonb_agg(jsonb_build_object('type', 'fact', 'id', b.id)), '[]')
           from bench_facts b where b.n in (select 1 + abs(hashtext(e.id::text || k)) % (select count(*)::int4 from bench_facts) from generate_series(1, 4) k)
             and b.created_at <= e.at))
         when 'consolidation.done' then jsonb_build_object('provider', 'local', 'model', 'reader-1', 'episodes', 25)
         when 'consolidation.failed' then jsonb_build_object('provider', 'local', 'model', 'reader-1', 'episodes', 25)
         else case when e.kind like 'rule.marked_%' then jsonb_build_object('from', 'active', 'application', jsonb_build_object('id', e.other),
           'set', jsonb_build_object('last_applied_at', e.at)) else '{}' end end
     from bench_events e
     left join facts f on e.kind = 'fact.stored' and f.id = e.id
     left join episodes p on e.kind = 'episode.stored' and p.id = e.id
     left join rules r on e.kind = 'rule.stored' and r.id = e.id
     where e.at >= $3 and e.at < $4 order by e.at, e.id`,
    [tenant, butler, from, to],
  );
}

export async function tidyPages(db: Db): Promise<void> {
  await db.exec("drop table bench_events, bench_facts");
  await db.exec(
    `vacuum (analyze) embeddings, episodes, facts, rules, lex_doc, lex_block, shelves, memory_links, rule_applications,
       consolidation_runs, memory_events, event_hours`,
  );
}

export interface PagesHeld {
  readonly facts: number;
  readonly rules: number;
  readonly episodes: number;
  readonly events: number;
}

export async function countPages(sql: Sql): Promise<PagesHeld> {
  const [row] = await sql.query<PagesHeld>(
    `select (select count(*)::int4 from facts) as facts, (select count(*)::int4 from rules) as rules,
       (select count(*)::int4 from episodes) as episodes, (select count(*)::int4 from memory_events) as events`,
  );
  return row ?? { facts: 0, rules: 0, episodes: 0, events: 0 };
}
