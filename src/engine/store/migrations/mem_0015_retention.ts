/**
 * Checkpoints of the stream, which nobody changes, and the one way in which old events may be folded or removed: under the name of the
 * job `retention`, inside of a transaction that writes the checkpoint. A folded event names its checkpoint and differs in nothing but its payload.
 */
import { type Kysely, sql } from "kysely";
import { SECURE_TABLES } from "../access/row-security.ts";

const appendOnly = (
  body: string,
) => `create or replace function memory_events_append_only() returns trigger language plpgsql as $$
    begin
      if current_setting('butler.work', true) = 'erasure' and (tg_op = 'DELETE' or tg_op = 'UPDATE' and exists (
          select from erasure_receipts where id::text = current_setting('butler.erasure', true) and xmin = pg_current_xact_id()::xid)) then
        return null;
      end if;
      ${body}raise exception 'memory_events is append-only' using errcode = 'integrity_constraint_violation';
    end $$`;

/** `xmin`: the checkpoint was written by this very transaction. */
const BY_RETENTION = `if current_setting('butler.work', true) = 'retention' and tg_op <> 'TRUNCATE' and exists (
          select from event_checkpoints where id::text = current_setting('butler.checkpoint', true) and xmin = pg_current_xact_id()::xid) then
        return null;
      end if;
      `;

const onlyPayload = (
  named: string,
  words: string,
) => `create or replace function memory_events_only_blanked() returns trigger language plpgsql as $$
    begin
      if to_jsonb(new) - 'payload' is distinct from to_jsonb(old) - 'payload'
          or ${named} then
        raise exception '${words}' using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end $$`;

const BLANKED = `new.payload ->> 'erased' is distinct from current_setting('butler.erasure', true)`;
/** Without `case`: its `then` would end the condition for PL/pgSQL. */
const FOLDED = `(current_setting('butler.work', true) is distinct from 'retention' and ${BLANKED})
          or (current_setting('butler.work', true) = 'retention'
            and new.payload #>> '{folded,checkpoint}' is distinct from current_setting('butler.checkpoint', true))`;

const UP = [
  `create table event_checkpoints (
     seq int8 generated always as identity primary key,
     id uuid not null unique,
     tenant_id text not null check (tenant_id <> ''),
     kind text not null check (kind in ('reads', 'memories', 'events')),
     through int8 not null,
     until timestamptz not null,
     made_at timestamptz not null,
     entries jsonb not null check (jsonb_typeof(entries) = 'object'),
     counts jsonb not null check (jsonb_typeof(counts) = 'object'),
     before bytea not null,
     hash bytea not null check (length(hash) = 32))`,
  `create index event_checkpoints_chain on event_checkpoints (tenant_id, seq)`,
  `create index event_checkpoints_until on event_checkpoints (tenant_id, until) where kind <> 'reads'`,
  `create function event_checkpoints_append_only() returns trigger language plpgsql as $$
    begin
      raise exception 'event_checkpoints is append-only' using errcode = 'integrity_constraint_violation';
    end $$`,
  `create trigger event_checkpoints_no_change before delete or update or truncate on event_checkpoints
     for each statement execute function event_checkpoints_append_only()`,
  appendOnly(BY_RETENTION),
  onlyPayload(FOLDED, "a payload is blanked by an erasure or folded by retention, and nothing else changes"),
  SECURE_TABLES,
];

const DOWN = [
  appendOnly(""),
  onlyPayload(BLANKED, "an erasure blanks payloads and changes nothing else"),
  `drop table event_checkpoints`,
  `drop function event_checkpoints_append_only()`,
];

const run = (statements: readonly string[]) => async (db: Kysely<unknown>) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

export const mem_0015_retention = { up: run(UP), down: run(DOWN) };
