/** What the lifecycle needs: who referenced which episode on which day, and the runs of jobs. */
import { type Kysely, sql } from "kysely";

const UP = [
  `create table episode_references (
    tenant_id text not null,
    episode_id uuid not null,
    session_id text not null,
    day date not null,
    n int4 not null check (n > 0),
    primary key (episode_id, session_id, day)
  )`,

  `create table job_runs (
    id uuid primary key,
    job text not null check (job <> ''),
    state text not null check (state in ('running', 'done', 'failed', 'dead_letter')),
    trigger text not null check (trigger in ('schedule', 'missed', 'manual')),
    slot timestamptz,
    attempt int4 not null check (attempt > 0),
    started_at timestamptz not null,
    finished_at timestamptz,
    report jsonb,
    error text,
    check ((state = 'running') = (finished_at is null)),
    check (trigger = 'manual' or slot is not null)
  )`,
  `create index job_runs_latest on job_runs (job, started_at desc)`,
  `create unique index job_runs_once on job_runs (job, slot, attempt) where slot is not null`,

  `create index facts_sweep on facts (id) where validity in ('active', 'fading')`,
  `create index rules_sweep on rules (id) where validity in ('active', 'fading')`,
  `create index episodes_capacity on episodes (tenant_id, butler, tier, created_at) where validity = 'active'`,
];

const DOWN = [
  `drop index episodes_capacity`,
  `drop index rules_sweep`,
  `drop index facts_sweep`,
  `drop table job_runs`,
  `drop table episode_references`,
];

async function run(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

export const mem_0002_lifecycle = {
  up: (db: Kysely<unknown>) => run(db, UP),
  down: (db: Kysely<unknown>) => run(db, DOWN),
};
