/** What consolidation needs: who said a thing, and the runs that learn from it. */
import { type Kysely, sql } from "kysely";

const MEMORIES = ["episodes", "facts", "rules"] as const;

const ENTITIES = "'episode', 'fact', 'rule', 'read', 'embedding_version'";
const entities = (list: string) => [
  `alter table memory_events drop constraint memory_events_entity_type_check`,
  `alter table memory_events add constraint memory_events_entity_type_check check (entity_type in (${list}))`,
];
const TRIGGERS = "'schedule', 'missed', 'manual'";
const triggers = (list: string) => [
  `alter table job_runs drop constraint job_runs_trigger_check`,
  `alter table job_runs add constraint job_runs_trigger_check check (trigger in (${list}))`,
];

const UP = [
  ...MEMORIES.map(
    (table) => `alter table ${table} add trust text not null default 'agent'
      check (trust in ('tool', 'imported', 'agent', 'user'))`,
  ),
  ...entities(`${ENTITIES}, 'consolidation'`),
  ...triggers(`${TRIGGERS}, 'backlog'`),

  `create table consolidation_runs (
    id uuid primary key,
    tenant_id text not null check (tenant_id <> ''),
    butler text not null check (butler <> ''),
    state text not null check (state in ('running', 'done', 'failed', 'lost', 'released')),
    provider text not null check (provider <> ''),
    model text not null,
    episode_ids uuid[] not null,
    lease_until timestamptz not null,
    started_at timestamptz not null,
    finished_at timestamptz,
    input jsonb,
    answer jsonb,
    decisions jsonb,
    counts jsonb,
    input_tokens int4 not null default 0 check (input_tokens >= 0),
    output_tokens int4 not null default 0 check (output_tokens >= 0),
    cost_usd float8 not null default 0 check (cost_usd >= 0),
    reserved_usd float8 not null default 0 check (reserved_usd >= 0),
    duration_ms int4,
    error text,
    check ((state = 'running') = (finished_at is null))
  )`,
  // One run at a time for each shard, whoever asks.
  `create unique index consolidation_runs_one on consolidation_runs (tenant_id, butler) where state = 'running'`,
  `create index consolidation_runs_latest on consolidation_runs (tenant_id, butler, started_at desc)`,
  `create index consolidation_runs_spend on consolidation_runs (started_at) where cost_usd > 0 or reserved_usd > 0`,
  `create index episodes_dead on episodes (tenant_id, butler, created_at, id)
    where consolidation_status in ('failed', 'dead_letter')`,
];

const DOWN = [
  `drop index episodes_dead`,
  `drop table consolidation_runs`,
  `update job_runs set trigger = 'schedule' where trigger = 'backlog'`,
  ...triggers(TRIGGERS),
  // The stream keeps its rows whatever happens, so the narrower check is for new ones.
  ...entities(ENTITIES).map((statement) => statement.replace(/\)\)$/, ")) not valid")),
  ...MEMORIES.map((table) => `alter table ${table} drop trust`),
];

async function run(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

export const mem_0004_consolidation = {
  up: (db: Kysely<unknown>) => run(db, UP),
  down: (db: Kysely<unknown>) => run(db, DOWN),
};
