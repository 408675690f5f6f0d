create unlogged table change_log (
  id uuid not null,
  dropped xid8 not null
);

create unlogged table changed_memories (
  xid xid8 not null default pg_current_xact_id(),
  at timestamp with time zone not null default clock_timestamp(),
  counted boolean not null,
  tenant_id text not null,
  ids uuid[] not null
);

create table consolidation_runs (
  id uuid not null,
  tenant_id text not null,
  butler text not null,
  state text not null,
  provider text not null,
  model text not null,
  episode_ids uuid[] not null,
  lease_until timestamp with time zone not null,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  input jsonb,
  answer jsonb,
  decisions jsonb,
  counts jsonb,
  input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  cost_usd double precision not null default 0,
  reserved_usd double precision not null default 0,
  duration_ms integer,
  error text,
  failure text,
  constraint consolidation_runs_butler_check CHECK ((butler <> ''::text)),
  constraint consolidation_runs_check CHECK (((state = 'running'::text) = (finished_at IS NULL))),
  constraint consolidation_runs_cost_usd_check CHECK ((cost_usd >= (0)::double precision)),
  constraint consolidation_runs_input_tokens_check CHECK ((input_tokens >= 0)),
  constraint consolidation_runs_output_tokens_check CHECK ((output_tokens >= 0)),
  constraint consolidation_runs_pkey PRIMARY KEY (id, tenant_id),
  constraint consolidation_runs_provider_check CHECK ((provider <> ''::text)),
  constraint consolidation_runs_reserved_usd_check CHECK ((reserved_usd >= (0)::double precision)),
  constraint consolidation_runs_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'failed'::text, 'lost'::text, 'released'::text]))),
  constraint consolidation_runs_tenant_id_check CHECK ((tenant_id <> ''::text))
);

create table embedding_versions (
  id integer not null generated always as identity,
  model text not null,
  variant text not null,
  dimensions integer not null,
  sha256 text not null,
  state text not null default 'serving'::text,
  created_at timestamp with time zone not null,
  constraint embedding_versions_dimensions_check CHECK ((dimensions > 0)),
  constraint embedding_versions_model_variant_sha256_key UNIQUE (model, variant, sha256),
  constraint embedding_versions_pkey PRIMARY KEY (id),
  constraint embedding_versions_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint embedding_versions_state_check CHECK ((state = ANY (ARRAY['building'::text, 'serving'::text, 'retired'::text]))),
  constraint embedding_versions_variant_check CHECK ((variant = ANY (ARRAY['int8'::text, 'fp32'::text])))
);

create table embeddings (
  memory_id uuid not null,
  version_id integer not null,
  sk integer not null,
  visible_until timestamp with time zone not null,
  embedding halfvec not null storage p,
  word_pieces integer,
  tokens bytea storage m,
  tenant_id text not null,
  constraint embeddings_pkey PRIMARY KEY (memory_id, version_id, tenant_id),
  constraint embeddings_sk_fkey FOREIGN KEY (sk, tenant_id) REFERENCES shelves(sk, tenant_id),
  constraint embeddings_version_id_fkey FOREIGN KEY (version_id) REFERENCES embedding_versions(id)
) with (toast_tuple_target=8160, fillfactor=70);

create table episode_references (
  tenant_id text not null,
  episode_id uuid not null,
  session_id text not null,
  day date not null,
  n integer not null,
  constraint episode_references_n_check CHECK ((n > 0)),
  constraint episode_references_pkey PRIMARY KEY (episode_id, session_id, day, tenant_id)
);

create table episodes (
  id uuid not null,
  butler text not null,
  session_id text,
  ordinal integer,
  speaker text,
  content text not null,
  content_key bytea not null,
  summary text,
  tier text not null default 'eden'::text,
  promoted_at timestamp with time zone,
  consolidation_status text not null default 'pending'::text,
  consolidated boolean generated always as ((consolidation_status = 'consolidated'::text)) stored,
  consolidation_attempts integer not null default 0,
  last_consolidation_error text,
  next_consolidation_retry_at timestamp with time zone,
  validity text not null default 'active'::text,
  forgotten_at timestamp with time zone,
  forget_reason text,
  occurred_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  tenant_id text not null,
  source_butler text not null,
  source text not null,
  source_episode_id uuid,
  request_id text,
  created_at timestamp with time zone not null,
  reference_count integer not null default 0,
  last_referenced_at timestamp with time zone,
  prior_referenced_at timestamp with time zone,
  importance double precision not null default 5,
  tags text[] not null default '{}'::text[],
  metadata jsonb not null default '{}'::jsonb,
  trust text not null default 'agent'::text,
  constraint episodes_butler_check CHECK ((butler <> ''::text)),
  constraint episodes_check CHECK (((validity = 'retracted'::text) = (forgotten_at IS NOT NULL))),
  constraint episodes_consolidation_attempts_check CHECK ((consolidation_attempts >= 0)),
  constraint episodes_consolidation_status_check CHECK ((consolidation_status = ANY (ARRAY['pending'::text, 'consolidated'::text, 'failed'::text, 'dead_letter'::text]))),
  constraint episodes_content_check CHECK ((content <> ''::text)),
  constraint episodes_importance_check CHECK (((importance >= (0)::double precision) AND (importance <= (10)::double precision))),
  constraint episodes_metadata_check CHECK ((jsonb_typeof(metadata) = 'object'::text)),
  constraint episodes_pkey PRIMARY KEY (id, tenant_id),
  constraint episodes_reference_count_check CHECK ((reference_count >= 0)),
  constraint episodes_source_butler_check CHECK ((source_butler <> ''::text)),
  constraint episodes_source_check CHECK ((source <> ''::text)),
  constraint episodes_tenant_id_check CHECK ((tenant_id <> ''::text)),
  constraint episodes_tier_check CHECK ((tier = ANY (ARRAY['eden'::text, 'mid'::text, 'long'::text]))),
  constraint episodes_trust_check CHECK ((trust = ANY (ARRAY['tool'::text, 'imported'::text, 'agent'::text, 'user'::text]))),
  constraint episodes_validity_check CHECK ((validity = ANY (ARRAY['active'::text, 'retracted'::text])))
) with (fillfactor=85);

create table erasure_receipts (
  seq bigint not null generated always as identity,
  id uuid not null,
  tenant_id text not null,
  butler text not null,
  kind text not null,
  erased_at timestamp with time zone not null,
  actor text not null,
  memories uuid[] not null,
  counts jsonb not null,
  before bytea not null,
  hash bytea not null,
  constraint erasure_receipts_counts_check CHECK ((jsonb_typeof(counts) = 'object'::text)),
  constraint erasure_receipts_hash_check CHECK ((length(hash) = 32)),
  constraint erasure_receipts_id_key UNIQUE (id, tenant_id),
  constraint erasure_receipts_kind_check CHECK ((kind = ANY (ARRAY['subject'::text, 'session'::text, 'id'::text, 'redaction'::text]))),
  constraint erasure_receipts_pkey PRIMARY KEY (seq, tenant_id),
  constraint erasure_receipts_tenant_id_check CHECK ((tenant_id <> ''::text))
);

create table event_checkpoints (
  seq bigint not null generated always as identity,
  id uuid not null,
  tenant_id text not null,
  kind text not null,
  through bigint not null,
  until timestamp with time zone not null,
  made_at timestamp with time zone not null,
  entries jsonb not null,
  counts jsonb not null,
  before bytea not null,
  hash bytea not null,
  constraint event_checkpoints_counts_check CHECK ((jsonb_typeof(counts) = 'object'::text)),
  constraint event_checkpoints_entries_check CHECK ((jsonb_typeof(entries) = 'object'::text)),
  constraint event_checkpoints_hash_check CHECK ((length(hash) = 32)),
  constraint event_checkpoints_id_key UNIQUE (id, tenant_id),
  constraint event_checkpoints_kind_check CHECK ((kind = ANY (ARRAY['reads'::text, 'memories'::text, 'events'::text, 'keys'::text]))),
  constraint event_checkpoints_pkey PRIMARY KEY (seq, tenant_id),
  constraint event_checkpoints_tenant_id_check CHECK ((tenant_id <> ''::text))
);

create table event_hours (
  tenant_id text not null,
  hour timestamp with time zone not null,
  event_type text not null,
  scope text not null,
  n bigint not null,
  constraint event_hours_n_check CHECK ((n > 0)),
  constraint event_hours_pkey PRIMARY KEY (tenant_id, event_type, hour, scope)
);

create table event_totals (
  tenant_id text not null,
  scope text not null,
  event_type text not null,
  n bigint not null,
  constraint event_totals_n_check CHECK ((n > 0)),
  constraint event_totals_pkey PRIMARY KEY (tenant_id, scope, event_type)
) with (fillfactor=50);

create table facts (
  id uuid not null,
  subject text not null,
  predicate text not null,
  subject_text text not null,
  predicate_text text not null,
  content text not null,
  scope text not null,
  validity text not null default 'active'::text,
  permanence text not null,
  supersedes_id uuid,
  superseded_at timestamp with time zone,
  valid_from timestamp with time zone,
  valid_to timestamp with time zone,
  forgotten_at timestamp with time zone,
  forget_reason text,
  confidence double precision not null,
  decay_rate double precision not null,
  last_confirmed_at timestamp with time zone not null,
  tenant_id text not null,
  source_butler text not null,
  source text not null,
  source_episode_id uuid,
  request_id text,
  created_at timestamp with time zone not null,
  reference_count integer not null default 0,
  last_referenced_at timestamp with time zone,
  prior_referenced_at timestamp with time zone,
  importance double precision not null default 5,
  tags text[] not null default '{}'::text[],
  metadata jsonb not null default '{}'::jsonb,
  trust text not null default 'agent'::text,
  waits_until timestamp with time zone,
  corroborated_at timestamp with time zone,
  review_until timestamp with time zone,
  constraint facts_check CHECK (((validity = 'retracted'::text) = (forgotten_at IS NOT NULL))),
  constraint facts_check1 CHECK (((valid_to IS NULL) OR (valid_from IS NULL) OR (valid_to >= valid_from))),
  constraint facts_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
  constraint facts_content_check CHECK ((content <> ''::text)),
  constraint facts_decay_rate_check CHECK ((decay_rate >= (0)::double precision)),
  constraint facts_importance_check CHECK (((importance >= (0)::double precision) AND (importance <= (10)::double precision))),
  constraint facts_metadata_check CHECK ((jsonb_typeof(metadata) = 'object'::text)),
  constraint facts_permanence_check CHECK ((permanence = ANY (ARRAY['permanent'::text, 'stable'::text, 'standard'::text, 'volatile'::text, 'ephemeral'::text]))),
  constraint facts_pkey PRIMARY KEY (id, tenant_id),
  constraint facts_predicate_check CHECK ((predicate <> ''::text)),
  constraint facts_reference_count_check CHECK ((reference_count >= 0)),
  constraint facts_scope_check CHECK ((scope <> ''::text)),
  constraint facts_source_butler_check CHECK ((source_butler <> ''::text)),
  constraint facts_source_check CHECK ((source <> ''::text)),
  constraint facts_subject_check CHECK ((subject <> ''::text)),
  constraint facts_supersedes_id_fkey FOREIGN KEY (supersedes_id, tenant_id) REFERENCES facts(id, tenant_id),
  constraint facts_tenant_id_check CHECK ((tenant_id <> ''::text)),
  constraint facts_trust_check CHECK ((trust = ANY (ARRAY['tool'::text, 'imported'::text, 'agent'::text, 'user'::text]))),
  constraint facts_validity_check CHECK ((validity = ANY (ARRAY['active'::text, 'fading'::text, 'superseded'::text, 'expired'::text, 'retracted'::text]))),
  constraint facts_waits_check CHECK (((waits_until IS NULL) OR (waits_until = valid_from)))
) with (fillfactor=85);

create table idempotency_keys (
  tenant_id text not null,
  butler text not null,
  tool text not null,
  key text not null,
  input_hash bytea not null,
  answer jsonb not null,
  created_at timestamp with time zone not null,
  constraint idempotency_keys_pkey PRIMARY KEY (tenant_id, butler, tool, key)
);

create table job_runs (
  id uuid not null,
  job text not null,
  state text not null,
  trigger text not null,
  slot timestamp with time zone,
  attempt integer not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  report jsonb,
  error text,
  due_at timestamp with time zone,
  lease_until timestamp with time zone,
  retries integer not null default 0,
  missed integer not null default 0,
  constraint job_runs_attempt_check CHECK ((attempt > 0)),
  constraint job_runs_check CHECK (((state = ANY (ARRAY['waiting'::text, 'running'::text])) = (finished_at IS NULL))),
  constraint job_runs_check1 CHECK (((trigger = 'manual'::text) OR (slot IS NOT NULL))),
  constraint job_runs_due CHECK (((state <> 'waiting'::text) OR (due_at IS NOT NULL))),
  constraint job_runs_job_check CHECK ((job <> ''::text)),
  constraint job_runs_lease CHECK (((state = 'running'::text) = (lease_until IS NOT NULL))),
  constraint job_runs_missed_check CHECK ((missed >= 0)),
  constraint job_runs_pkey PRIMARY KEY (id),
  constraint job_runs_retries_check CHECK ((retries >= 0)),
  constraint job_runs_started CHECK (((state = 'waiting'::text) = (started_at IS NULL))),
  constraint job_runs_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'done'::text, 'failed'::text, 'dead_letter'::text]))),
  constraint job_runs_trigger_check CHECK ((trigger = ANY (ARRAY['schedule'::text, 'missed'::text, 'manual'::text, 'backlog'::text])))
);

create table lex_block (
  key bigint not null,
  b integer not null,
  n smallint not null,
  x bytea not null storage m,
  tenant_id text not null,
  slim bytea storage m,
  constraint lex_block_pkey PRIMARY KEY (key, b, tenant_id)
) with (fillfactor=85);

create table lex_doc (
  doc bigint not null generated always as identity,
  memory_id uuid not null,
  sk integer not null,
  slot integer,
  len integer not null,
  state smallint not null default 0,
  x bytea not null,
  tenant_id text not null,
  constraint lex_doc_pkey PRIMARY KEY (doc, tenant_id),
  constraint lex_doc_sk_fkey FOREIGN KEY (sk, tenant_id) REFERENCES shelves(sk, tenant_id),
  constraint lex_doc_state_check CHECK ((state = ANY (ARRAY[0, 1, 2])))
);

create table lex_long (
  key bigint not null,
  df integer not null,
  least bytea not null,
  tenant_id text not null,
  constraint lex_long_pkey PRIMARY KEY (key, tenant_id)
);

create table mem_migrations (
  name character varying(255) not null,
  timestamp character varying(255) not null,
  constraint mem_migrations_pkey PRIMARY KEY (name)
);

create table mem_migrations_lock (
  id character varying(255) not null,
  is_locked integer not null default 0,
  constraint mem_migrations_lock_pkey PRIMARY KEY (id)
);

create table memory_events (
  seq bigint not null generated always as identity,
  id uuid not null,
  tenant_id text not null,
  butler text not null,
  scope text not null,
  event_type text not null,
  entity_type text not null,
  entity_id uuid not null,
  occurred_at timestamp with time zone not null,
  actor text not null,
  session_id text,
  request_id text,
  subrequest_id text,
  segment_id text,
  payload jsonb not null,
  constraint memory_events_entity_type_check CHECK ((entity_type = ANY (ARRAY['episode'::text, 'fact'::text, 'rule'::text, 'read'::text, 'embedding_version'::text, 'consolidation'::text, 'erasure'::text]))),
  constraint memory_events_event_type_check CHECK ((event_type <> ''::text)),
  constraint memory_events_payload_check CHECK ((jsonb_typeof(payload) = 'object'::text)),
  constraint memory_events_pkey PRIMARY KEY (id, tenant_id)
);

create table memory_links (
  tenant_id text not null,
  source_type text not null,
  source_id uuid not null,
  target_type text not null,
  target_id uuid not null,
  relation text not null,
  request_id text,
  created_at timestamp with time zone not null,
  constraint memory_links_pkey PRIMARY KEY (source_id, target_id, relation, tenant_id),
  constraint memory_links_relation_check CHECK ((relation = ANY (ARRAY['derived_from'::text, 'supports'::text, 'contradicts'::text, 'supersedes'::text, 'related_to'::text]))),
  constraint memory_links_source_type_check CHECK ((source_type = ANY (ARRAY['episode'::text, 'fact'::text, 'rule'::text]))),
  constraint memory_links_target_type_check CHECK ((target_type = ANY (ARRAY['episode'::text, 'fact'::text, 'rule'::text])))
);

create table rule_applications (
  id uuid not null,
  tenant_id text not null,
  rule_id uuid not null,
  outcome text not null,
  session_id text,
  note text,
  actor text not null,
  request_id text,
  created_at timestamp with time zone not null,
  counted boolean not null default true,
  constraint rule_applications_outcome_check CHECK ((outcome = ANY (ARRAY['helpful'::text, 'harmful'::text]))),
  constraint rule_applications_pkey PRIMARY KEY (id, tenant_id),
  constraint rule_applications_rule_id_fkey FOREIGN KEY (rule_id, tenant_id) REFERENCES rules(id, tenant_id)
);

create table rules (
  id uuid not null,
  content text not null,
  content_key bytea not null,
  original_content text,
  matcher jsonb,
  scope text not null,
  maturity text not null default 'candidate'::text,
  validity text not null default 'active'::text,
  effectiveness_score double precision not null default 0,
  applied_count integer not null default 0,
  success_count integer not null default 0,
  harmful_count integer not null default 0,
  last_applied_at timestamp with time zone,
  last_evaluated_at timestamp with time zone,
  forgotten_at timestamp with time zone,
  forget_reason text,
  confidence double precision not null,
  decay_rate double precision not null,
  last_confirmed_at timestamp with time zone not null,
  tenant_id text not null,
  source_butler text not null,
  source text not null,
  source_episode_id uuid,
  request_id text,
  created_at timestamp with time zone not null,
  reference_count integer not null default 0,
  last_referenced_at timestamp with time zone,
  prior_referenced_at timestamp with time zone,
  importance double precision not null default 5,
  tags text[] not null default '{}'::text[],
  metadata jsonb not null default '{}'::jsonb,
  trust text not null default 'agent'::text,
  corroborated_at timestamp with time zone,
  review_until timestamp with time zone,
  constraint rules_check CHECK ((applied_count = (success_count + harmful_count))),
  constraint rules_check1 CHECK (((validity = 'retracted'::text) = (forgotten_at IS NOT NULL))),
  constraint rules_check2 CHECK (((maturity <> 'anti_pattern'::text) OR (original_content IS NOT NULL))),
  constraint rules_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
  constraint rules_content_check CHECK ((content <> ''::text)),
  constraint rules_decay_rate_check CHECK ((decay_rate >= (0)::double precision)),
  constraint rules_effectiveness_score_check CHECK (((effectiveness_score >= (0)::double precision) AND (effectiveness_score <= (1)::double precision))),
  constraint rules_harmful_count_check CHECK ((harmful_count >= 0)),
  constraint rules_importance_check CHECK (((importance >= (0)::double precision) AND (importance <= (10)::double precision))),
  constraint rules_maturity_check CHECK ((maturity = ANY (ARRAY['candidate'::text, 'established'::text, 'proven'::text, 'anti_pattern'::text]))),
  constraint rules_metadata_check CHECK ((jsonb_typeof(metadata) = 'object'::text)),
  constraint rules_of_no_tool CHECK ((trust <> 'tool'::text)),
  constraint rules_pkey PRIMARY KEY (id, tenant_id),
  constraint rules_reference_count_check CHECK ((reference_count >= 0)),
  constraint rules_scope_check CHECK ((scope <> ''::text)),
  constraint rules_source_butler_check CHECK ((source_butler <> ''::text)),
  constraint rules_source_check CHECK ((source <> ''::text)),
  constraint rules_success_count_check CHECK ((success_count >= 0)),
  constraint rules_tenant_id_check CHECK ((tenant_id <> ''::text)),
  constraint rules_trust_check CHECK ((trust = ANY (ARRAY['tool'::text, 'imported'::text, 'agent'::text, 'user'::text]))),
  constraint rules_validity_check CHECK ((validity = ANY (ARRAY['active'::text, 'fading'::text, 'expired'::text, 'retracted'::text])))
) with (fillfactor=85);

create table shelves (
  sk integer not null generated always as identity,
  tenant_id text not null,
  scope text not null,
  type text not null,
  n integer not null default 0,
  tl bigint not null default 0,
  slots integer not null default 0,
  constraint shelves_pkey PRIMARY KEY (sk, tenant_id),
  constraint shelves_tenant_id_scope_type_key UNIQUE (tenant_id, scope, type),
  constraint shelves_type_check CHECK ((type = ANY (ARRAY['episode'::text, 'fact'::text, 'rule'::text])))
);

CREATE INDEX changed_memories_age ON public.changed_memories USING btree (at);
CREATE INDEX changed_memories_since ON public.changed_memories USING btree (tenant_id, xid);
CREATE INDEX consolidation_runs_latest ON public.consolidation_runs USING btree (tenant_id, butler, started_at DESC);
CREATE UNIQUE INDEX consolidation_runs_one ON public.consolidation_runs USING btree (tenant_id, butler) WHERE (state = 'running'::text);
CREATE INDEX consolidation_runs_spend ON public.consolidation_runs USING btree (started_at) WHERE ((cost_usd > (0)::double precision) OR (reserved_usd > (0)::double precision));
CREATE INDEX embeddings_shelf ON public.embeddings USING btree (sk, version_id);
CREATE INDEX episodes_capacity ON public.episodes USING btree (tenant_id, butler, tier, created_at) WHERE (validity = 'active'::text);
CREATE INDEX episodes_dead ON public.episodes USING btree (tenant_id, butler, created_at, id) WHERE (consolidation_status = ANY (ARRAY['failed'::text, 'dead_letter'::text]));
CREATE UNIQUE INDEX episodes_once ON public.episodes USING btree (tenant_id, butler, content_key) WHERE (validity = 'active'::text);
CREATE INDEX episodes_pending ON public.episodes USING btree (tenant_id, butler, created_at, id) WHERE (consolidation_status = 'pending'::text);
CREATE INDEX episodes_session ON public.episodes USING btree (tenant_id, session_id, ordinal);
CREATE INDEX episodes_speaker ON public.episodes USING btree (tenant_id, lower(split_part(speaker, ' '::text, 1)), session_id) WHERE (speaker IS NOT NULL);
CREATE INDEX episodes_tags ON public.episodes USING gin (tags);
CREATE INDEX erasure_receipts_chain ON public.erasure_receipts USING btree (tenant_id, seq);
CREATE INDEX event_checkpoints_chain ON public.event_checkpoints USING btree (tenant_id, seq);
CREATE INDEX event_checkpoints_until ON public.event_checkpoints USING btree (tenant_id, until) WHERE (kind = ANY (ARRAY['memories'::text, 'events'::text]));
CREATE INDEX facts_key ON public.facts USING btree (tenant_id, scope, subject, predicate, created_at);
CREATE UNIQUE INDEX facts_one_live ON public.facts USING btree (tenant_id, scope, subject, predicate, waits_until) NULLS NOT DISTINCT WHERE (validity = ANY (ARRAY['active'::text, 'fading'::text]));
CREATE INDEX facts_pages ON public.facts USING btree (tenant_id, subject COLLATE "C", predicate COLLATE "C", id) INCLUDE (scope, validity);
CREATE INDEX facts_pages_state ON public.facts USING btree (tenant_id, validity, subject COLLATE "C", predicate COLLATE "C", id) WHERE (validity <> 'active'::text);
CREATE INDEX facts_profile ON public.facts USING btree (tenant_id, scope, importance DESC) WHERE (validity = ANY (ARRAY['active'::text, 'fading'::text]));
CREATE INDEX facts_reader ON public.facts USING btree (tenant_id, (
CASE
    WHEN (source ~~ 'consolidation:%'::text) THEN (metadata #>> '{learned,by}'::text[])
    ELSE source
END), subject COLLATE "C", predicate COLLATE "C", id);
CREATE INDEX facts_review ON public.facts USING btree (tenant_id, review_until, id) WHERE (review_until IS NOT NULL);
CREATE INDEX facts_supersedes ON public.facts USING btree (supersedes_id);
CREATE INDEX facts_sweep ON public.facts USING btree (id) WHERE (validity = ANY (ARRAY['active'::text, 'fading'::text]));
CREATE INDEX facts_tags ON public.facts USING gin (tags);
CREATE INDEX facts_trust ON public.facts USING btree (tenant_id, trust, subject COLLATE "C", predicate COLLATE "C", id);
CREATE INDEX facts_waiting ON public.facts USING btree (waits_until, id) WHERE ((waits_until IS NOT NULL) AND (validity = ANY (ARRAY['active'::text, 'fading'::text])));
CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);
CREATE INDEX job_runs_latest ON public.job_runs USING btree (job, started_at DESC);
CREATE UNIQUE INDEX job_runs_once ON public.job_runs USING btree (job, slot, attempt) WHERE (slot IS NOT NULL);
CREATE UNIQUE INDEX job_runs_running ON public.job_runs USING btree (job) WHERE (state = 'running'::text);
CREATE INDEX job_runs_waiting ON public.job_runs USING btree (job, due_at) WHERE (state = 'waiting'::text);
CREATE INDEX lex_doc_delta ON public.lex_doc USING btree (sk) WHERE (state <> 1);
CREATE UNIQUE INDEX lex_doc_memory ON public.lex_doc USING btree (memory_id, tenant_id) WHERE (state <> 2);
CREATE UNIQUE INDEX lex_doc_slot ON public.lex_doc USING btree (sk, slot, tenant_id) WHERE (state = 1);
CREATE INDEX memory_events_actor ON public.memory_events USING btree (tenant_id, actor, occurred_at, seq);
CREATE INDEX memory_events_entity ON public.memory_events USING btree (entity_id, seq);
CREATE INDEX memory_events_judged ON public.memory_events USING btree (tenant_id, seq) WHERE ((event_type = ANY (ARRAY['fact.forgotten'::text, 'rule.forgotten'::text, 'rule.marked_harmful'::text, 'fact.superseded'::text, 'fact.confirmed'::text, 'rule.confirmed'::text, 'fact.restored'::text, 'rule.restored'::text, 'rule.marked_helpful'::text])) AND (actor !~~ 'job:%'::text));
CREATE INDEX memory_events_place ON public.memory_events USING btree (tenant_id, scope, event_type, occurred_at, seq);
CREATE INDEX memory_events_readings ON public.memory_events USING gin (jsonb_path_query_array(payload, '$."references"[*]."id"'::jsonpath)) WITH (gin_pending_list_limit='512') WHERE (event_type = 'memory.referenced'::text);
CREATE INDEX memory_events_request ON public.memory_events USING btree (request_id) WHERE (request_id IS NOT NULL);
CREATE INDEX memory_events_said ON public.memory_events USING btree (tenant_id, (((payload -> 'row'::text) ->> 'session_id'::text))) WHERE (event_type = 'episode.stored'::text);
CREATE UNIQUE INDEX memory_events_seq ON public.memory_events USING btree (seq, tenant_id);
CREATE INDEX memory_events_session ON public.memory_events USING btree (tenant_id, session_id, occurred_at, seq) WHERE (session_id IS NOT NULL);
CREATE INDEX memory_events_stream ON public.memory_events USING btree (tenant_id, seq);
CREATE INDEX memory_events_when ON public.memory_events USING btree (tenant_id, event_type, occurred_at, seq);
CREATE INDEX memory_links_contradicts ON public.memory_links USING btree (tenant_id, created_at) WHERE (relation = 'contradicts'::text);
CREATE INDEX memory_links_inbound ON public.memory_links USING btree (target_id, relation);
CREATE INDEX memory_links_tenant ON public.memory_links USING btree (tenant_id);
CREATE UNIQUE INDEX rule_applications_once ON public.rule_applications USING btree (rule_id, outcome, session_id, tenant_id) WHERE ((session_id IS NOT NULL) AND counted);
CREATE INDEX rule_applications_rule ON public.rule_applications USING btree (rule_id, created_at);
CREATE UNIQUE INDEX rules_once ON public.rules USING btree (tenant_id, scope, content_key) WHERE (validity <> 'retracted'::text);
CREATE INDEX rules_review ON public.rules USING btree (tenant_id, review_until, id) WHERE (review_until IS NOT NULL);
CREATE INDEX rules_sweep ON public.rules USING btree (id) WHERE (validity = ANY (ARRAY['active'::text, 'fading'::text]));
CREATE INDEX rules_tags ON public.rules USING gin (tags);

CREATE TRIGGER erasure_receipts_no_change BEFORE DELETE OR UPDATE OR TRUNCATE ON public.erasure_receipts FOR EACH STATEMENT EXECUTE FUNCTION erasure_receipts_append_only();
CREATE TRIGGER event_checkpoints_no_change BEFORE DELETE OR UPDATE OR TRUNCATE ON public.event_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION event_checkpoints_append_only();
CREATE TRIGGER memory_events_blanked BEFORE UPDATE ON public.memory_events FOR EACH ROW EXECUTE FUNCTION memory_events_only_blanked();
CREATE TRIGGER memory_events_counted AFTER INSERT ON public.memory_events REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION memory_events_count_hours();
CREATE TRIGGER memory_events_no_change BEFORE DELETE OR UPDATE OR TRUNCATE ON public.memory_events FOR EACH STATEMENT EXECUTE FUNCTION memory_events_append_only();

CREATE OR REPLACE FUNCTION public.erasure_receipts_append_only()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception 'erasure_receipts is append-only' using errcode = 'integrity_constraint_violation';
    end $function$
;
CREATE OR REPLACE FUNCTION public.event_checkpoints_append_only()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception 'event_checkpoints is append-only' using errcode = 'integrity_constraint_violation';
    end $function$
;
CREATE OR REPLACE FUNCTION public.memory_events_append_only()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if current_setting('butler.work', true) = 'erasure' and (tg_op = 'DELETE' or tg_op = 'UPDATE' and exists (
          select from erasure_receipts where id::text = current_setting('butler.erasure', true) and xmin = pg_current_xact_id()::xid)) then
        return null;
      end if;
      if current_setting('butler.work', true) = 'retention' and tg_op <> 'TRUNCATE' and exists (
          select from event_checkpoints where id::text = current_setting('butler.checkpoint', true) and xmin = pg_current_xact_id()::xid) then
        return null;
      end if;
      if current_setting('butler.work', true) = 'rekey' and tg_op = 'UPDATE' and exists (
          select from event_checkpoints where id::text = current_setting('butler.checkpoint', true) and xmin = pg_current_xact_id()::xid) then
        return null;
      end if;
      raise exception 'memory_events is append-only' using errcode = 'integrity_constraint_violation';
    end $function$
;
CREATE OR REPLACE FUNCTION public.memory_events_count_hours()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into event_hours (tenant_id, hour, event_type, scope, n)
        select tenant_id, date_bin('1 hour', occurred_at, timestamptz '2000-01-01 00:00:00+00') as hour, event_type, scope, count(*) from added group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (tenant_id, event_type, hour, scope) do update set n = event_hours.n + excluded.n;
      insert into event_totals (tenant_id, scope, event_type, n)
        select tenant_id, scope, event_type, count(*) from added group by 1, 2, 3 order by 1, 2, 3
        on conflict (tenant_id, scope, event_type) do update set n = event_totals.n + excluded.n;
      return null;
    end $function$
;
CREATE OR REPLACE FUNCTION public.memory_events_only_blanked()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if to_jsonb(new) - 'payload' is distinct from to_jsonb(old) - 'payload'
          or (coalesce(current_setting('butler.work', true), '') not in ('retention', 'rekey')
            and new.payload ->> 'erased' is distinct from current_setting('butler.erasure', true))
          or (current_setting('butler.work', true) = 'retention'
            and new.payload #>> '{folded,checkpoint}' is distinct from current_setting('butler.checkpoint', true))
          or (current_setting('butler.work', true) = 'rekey'
            and new.payload #>> '{resealed}' is distinct from current_setting('butler.checkpoint', true)) then
        raise exception 'a payload is blanked by an erasure or folded by retention, and nothing else changes' using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end $function$
;

alter table change_log disable row level security;
alter table changed_memories enable row level security, force row level security;
alter table consolidation_runs enable row level security, force row level security;
alter table embedding_versions disable row level security;
alter table embeddings enable row level security, force row level security;
alter table episode_references enable row level security, force row level security;
alter table episodes enable row level security, force row level security;
alter table erasure_receipts enable row level security, force row level security;
alter table event_checkpoints enable row level security, force row level security;
alter table event_hours enable row level security, force row level security;
alter table event_totals enable row level security, force row level security;
alter table facts enable row level security, force row level security;
alter table idempotency_keys enable row level security, force row level security;
alter table job_runs disable row level security;
alter table lex_block enable row level security, force row level security;
alter table lex_doc enable row level security, force row level security;
alter table lex_long enable row level security, force row level security;
alter table mem_migrations disable row level security;
alter table mem_migrations_lock disable row level security;
alter table memory_events enable row level security, force row level security;
alter table memory_links enable row level security, force row level security;
alter table rule_applications enable row level security, force row level security;
alter table rules enable row level security, force row level security;
alter table shelves enable row level security, force row level security;

create policy of_tenant on changed_memories using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on changed_memories to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on consolidation_runs using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on consolidation_runs to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on embeddings using ((sk = ANY (ARRAY( SELECT s.sk FROM shelves s)))) with check ((sk = ANY (ARRAY( SELECT s.sk FROM shelves s))));
create policy whole_store on embeddings to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on episode_references using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on episode_references to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on episodes using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on episodes to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on erasure_receipts using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on erasure_receipts to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on event_checkpoints using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on event_checkpoints to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on event_hours using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on event_hours to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on event_totals using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on event_totals to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on facts using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on facts to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on idempotency_keys using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on idempotency_keys to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on lex_block using ((((key >> 40))::integer = ANY (ARRAY( SELECT s.sk FROM shelves s)))) with check ((((key >> 40))::integer = ANY (ARRAY( SELECT s.sk FROM shelves s))));
create policy whole_store on lex_block to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on lex_doc using ((sk = ANY (ARRAY( SELECT s.sk FROM shelves s)))) with check ((sk = ANY (ARRAY( SELECT s.sk FROM shelves s))));
create policy whole_store on lex_doc to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on lex_long using ((((key >> 40))::integer = ANY (ARRAY( SELECT s.sk FROM shelves s)))) with check ((((key >> 40))::integer = ANY (ARRAY( SELECT s.sk FROM shelves s))));
create policy whole_store on lex_long to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on memory_events using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on memory_events to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on memory_links using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on memory_links to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on rule_applications using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on rule_applications to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on rules using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on rules to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));
create policy of_tenant on shelves using ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting))) with check ((tenant_id = ( SELECT current_setting('butler.tenant'::text, true) AS current_setting)));
create policy whole_store on shelves to owner using ((( SELECT current_setting('butler.work'::text, true) AS current_setting) <> ''::text));

grant insert on changed_memories to tenants;
grant delete, insert, select, update on consolidation_runs to tenants;
grant delete, insert, select, update on embeddings to tenants;
grant delete, insert, select, update on episode_references to tenants;
grant delete, insert, select, update on episodes to tenants;
grant select on erasure_receipts to tenants;
grant select on event_checkpoints to tenants;
grant insert, select, update on event_hours to tenants;
grant insert, select, update on event_totals to tenants;
grant insert, select, update on facts to tenants;
grant insert, select on idempotency_keys to tenants;
grant delete, insert, select, update on lex_block to tenants;
grant delete, insert, select, update on lex_doc to tenants;
grant delete, insert, select, update on lex_long to tenants;
grant insert, select on memory_events to tenants;
grant delete, insert, select on memory_links to tenants;
grant insert, select, update on rule_applications to tenants;
grant insert, select, update on rules to tenants;
grant insert, select, update on shelves to tenants;
