/** Every table the memory stands on. Statements are separate because a prepared statement holds only one. */
import { type Kysely, sql } from "kysely";

const PROVENANCE = `
  tenant_id text not null check (tenant_id <> ''),
  source_butler text not null check (source_butler <> ''),
  source text not null check (source <> ''),
  source_episode_id uuid,
  request_id text,
  created_at timestamptz not null`;

const REFERENCES = `
  reference_count int4 not null default 0 check (reference_count >= 0),
  last_referenced_at timestamptz,
  prior_referenced_at timestamptz`;

const FADING = `
  confidence float8 not null check (confidence between 0 and 1),
  decay_rate float8 not null check (decay_rate >= 0),
  last_confirmed_at timestamptz not null`;

const COMMON = `
  importance float8 not null default 5 check (importance between 0 and 10),
  tags text[] not null default '{}',
  metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object')`;

const UP = [
  `create extension if not exists vector`,

  `create table embedding_versions (
    id int4 primary key generated always as identity,
    model text not null,
    variant text not null check (variant in ('int8', 'fp32')),
    dimensions int4 not null check (dimensions > 0),
    sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    state text not null default 'serving' check (state in ('building', 'serving', 'retired')),
    created_at timestamptz not null,
    unique (model, variant, sha256)
  )`,

  `create table episodes (
    id uuid primary key,
    butler text not null check (butler <> ''),
    session_id text,
    ordinal int4,
    speaker text,
    content text not null check (content <> ''),
    content_key bytea not null,
    summary text,
    tier text not null default 'eden' check (tier in ('eden', 'mid', 'long')),
    promoted_at timestamptz,
    consolidation_status text not null default 'pending'
      check (consolidation_status in ('pending', 'consolidated', 'failed', 'dead_letter')),
    consolidated boolean generated always as (consolidation_status = 'consolidated') stored,
    consolidation_attempts int4 not null default 0 check (consolidation_attempts >= 0),
    last_consolidation_error text,
    next_consolidation_retry_at timestamptz,
    validity text not null default 'active' check (validity in ('active', 'retracted')),
    forgotten_at timestamptz,
    forget_reason text,
    occurred_at timestamptz not null,
    expires_at timestamptz not null,
    ${PROVENANCE}, ${REFERENCES}, ${COMMON},
    check ((validity = 'retracted') = (forgotten_at is not null))
  )`,
  `create unique index episodes_once on episodes (tenant_id, butler, content_key) where validity = 'active'`,
  `create index episodes_pending on episodes (tenant_id, butler, created_at, id) where consolidation_status = 'pending'`,
  `create index episodes_tier on episodes (tenant_id, tier, last_referenced_at)`,
  `create index episodes_expiry on episodes (expires_at)`,
  `create index episodes_session on episodes (tenant_id, session_id, ordinal)`,
  `create index episodes_tags on episodes using gin (tags)`,

  `create table facts (
    id uuid primary key,
    subject text not null check (subject <> ''),
    predicate text not null check (predicate <> ''),
    subject_text text not null,
    predicate_text text not null,
    content text not null check (content <> ''),
    scope text not null check (scope <> ''),
    validity text not null default 'active'
      check (validity in ('active', 'fading', 'superseded', 'expired', 'retracted')),
    permanence text not null check (permanence in ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')),
    supersedes_id uuid references facts (id),
    superseded_at timestamptz,
    valid_from timestamptz,
    valid_to timestamptz,
    forgotten_at timestamptz,
    forget_reason text,
    ${FADING}, ${PROVENANCE}, ${REFERENCES}, ${COMMON},
    check ((validity = 'retracted') = (forgotten_at is not null)),
    check (valid_to is null or valid_from is null or valid_to >= valid_from)
  )`,
  `create unique index facts_one_live on facts (tenant_id, scope, subject, predicate)
    where validity in ('active', 'fading')`,
  `create index facts_key on facts (tenant_id, scope, subject, predicate, created_at)`,
  `create index facts_profile on facts (tenant_id, scope, importance desc) where validity in ('active', 'fading')`,
  `create index facts_supersedes on facts (supersedes_id)`,
  `create index facts_tags on facts using gin (tags)`,

  `create table rules (
    id uuid primary key,
    content text not null check (content <> ''),
    content_key bytea not null,
    original_content text,
    matcher jsonb,
    scope text not null check (scope <> ''),
    maturity text not null default 'candidate'
      check (maturity in ('candidate', 'established', 'proven', 'anti_pattern')),
    validity text not null default 'active' check (validity in ('active', 'fading', 'expired', 'retracted')),
    effectiveness_score float8 not null default 0 check (effectiveness_score between 0 and 1),
    applied_count int4 not null default 0,
    success_count int4 not null default 0 check (success_count >= 0),
    harmful_count int4 not null default 0 check (harmful_count >= 0),
    last_applied_at timestamptz,
    last_evaluated_at timestamptz,
    forgotten_at timestamptz,
    forget_reason text,
    ${FADING}, ${PROVENANCE}, ${REFERENCES}, ${COMMON},
    check (applied_count = success_count + harmful_count),
    check ((validity = 'retracted') = (forgotten_at is not null)),
    check (maturity <> 'anti_pattern' or original_content is not null)
  )`,
  `create unique index rules_once on rules (tenant_id, scope, content_key) where validity <> 'retracted'`,
  `create index rules_tags on rules using gin (tags)`,

  `create table rule_applications (
    id uuid primary key,
    tenant_id text not null,
    rule_id uuid not null references rules (id),
    outcome text not null check (outcome in ('helpful', 'harmful')),
    session_id text,
    note text,
    actor text not null,
    request_id text,
    created_at timestamptz not null
  )`,
  `create index rule_applications_rule on rule_applications (rule_id, created_at)`,
  `create unique index rule_applications_once on rule_applications (rule_id, outcome, session_id)
    where session_id is not null`,

  `create table memory_links (
    tenant_id text not null,
    source_type text not null check (source_type in ('episode', 'fact', 'rule')),
    source_id uuid not null,
    target_type text not null check (target_type in ('episode', 'fact', 'rule')),
    target_id uuid not null,
    relation text not null
      check (relation in ('derived_from', 'supports', 'contradicts', 'supersedes', 'related_to')),
    request_id text,
    created_at timestamptz not null,
    primary key (source_id, target_id, relation)
  )`,
  `create index memory_links_inbound on memory_links (target_id, relation)`,
  `create index memory_links_tenant on memory_links (tenant_id)`,

  `create table memory_events (
    seq int8 primary key generated always as identity,
    id uuid not null unique,
    tenant_id text not null,
    butler text not null,
    scope text not null,
    event_type text not null check (event_type <> ''),
    entity_type text not null check (entity_type in ('episode', 'fact', 'rule', 'read', 'embedding_version')),
    entity_id uuid not null,
    occurred_at timestamptz not null,
    actor text not null,
    session_id text,
    request_id text,
    subrequest_id text,
    segment_id text,
    payload jsonb not null check (jsonb_typeof(payload) = 'object')
  )`,
  `create index memory_events_stream on memory_events (tenant_id, seq)`,
  `create index memory_events_entity on memory_events (entity_id, seq)`,
  `create index memory_events_type on memory_events (tenant_id, event_type)`,
  `create index memory_events_request on memory_events (request_id) where request_id is not null`,
  `create function memory_events_append_only() returns trigger language plpgsql as $$
    begin
      raise exception 'memory_events is append-only' using errcode = 'integrity_constraint_violation';
    end $$`,
  `create trigger memory_events_no_change before update or delete or truncate on memory_events
    for each statement execute function memory_events_append_only()`,

  `create table idempotency_keys (
    tenant_id text not null,
    butler text not null,
    tool text not null,
    key text not null,
    input_hash bytea not null,
    answer jsonb not null,
    created_at timestamptz not null,
    primary key (tenant_id, butler, tool, key)
  )`,
  `create index idempotency_keys_age on idempotency_keys (created_at)`,

  `create table shelves (
    sk int4 primary key generated always as identity,
    tenant_id text not null,
    scope text not null,
    type text not null check (type in ('episode', 'fact', 'rule')),
    n int4 not null default 0,
    tl int8 not null default 0,
    slots int4 not null default 0,
    unique (tenant_id, scope, type)
  )`,
  `create table lex_doc (
    doc int8 primary key generated always as identity,
    memory_id uuid not null,
    sk int4 not null references shelves (sk),
    slot int4,
    len int4 not null,
    state int2 not null default 0 check (state in (0, 1, 2)),
    x bytea not null
  )`,
  `create unique index lex_doc_memory on lex_doc (memory_id) where state <> 2`,
  `create index lex_doc_delta on lex_doc (sk) where state <> 1`,
  `create unique index lex_doc_slot on lex_doc (sk, slot) where state = 1`,
  `create table lex_block (
    key int8 not null,
    b int4 not null,
    n int2 not null,
    x bytea not null,
    primary key (key, b)
  ) with (fillfactor = 85)`,
  `alter table lex_block alter x set storage main`,

  `create table embeddings (
    memory_id uuid not null,
    version_id int4 not null references embedding_versions (id),
    sk int4 not null references shelves (sk),
    visible_until timestamptz not null,
    embedding vector not null,
    primary key (memory_id, version_id)
  )`,
  `alter table embeddings alter embedding set storage plain`,
  `create index embeddings_shelf on embeddings (sk, version_id)`,

  `create table embedding_tokens (
    memory_id uuid not null,
    version_id int4 not null references embedding_versions (id),
    word_pieces int4 not null,
    kept int4 not null,
    bits bytea not null,
    primary key (memory_id, version_id)
  )`,
];

const DOWN = [
  ...[
    "embedding_tokens",
    "embeddings",
    "lex_block",
    "lex_doc",
    "shelves",
    "idempotency_keys",
    "memory_events",
    "memory_links",
    "rule_applications",
    "rules",
    "facts",
    "episodes",
    "embedding_versions",
  ].map((table) => `drop table ${table}`),
  `drop function memory_events_append_only()`,
];

async function run(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

export const mem_0001_foundation = {
  up: (db: Kysely<unknown>) => run(db, UP),
  down: (db: Kysely<unknown>) => run(db, DOWN),
};
