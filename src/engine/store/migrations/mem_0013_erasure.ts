/**
 * Receipts of erasures, which nobody changes, and the one way in which a payload of the stream may be blanked: inside of the transaction
 * of an erasure that writes the receipt, named by it, and nothing but the payload.
 */
import { type Kysely, sql } from "kysely";
import { SECURE_TABLES } from "../access/row-security.ts";

const refusing = (
  body: string,
) => `create or replace function memory_events_append_only() returns trigger language plpgsql as $$
    begin
      ${body}raise exception 'memory_events is append-only' using errcode = 'integrity_constraint_violation';
    end $$`;

/** `xmin`: the receipt was written by this very transaction. */
const BY_AN_ERASURE = `if current_setting('butler.work', true) = 'erasure' and (tg_op = 'DELETE' or tg_op = 'UPDATE' and exists (
          select from erasure_receipts where id::text = current_setting('butler.erasure', true) and xmin = pg_current_xact_id()::xid)) then
        return null;
      end if;
      `;
/** As before: the name of the work is enough. */
const BY_NAME = `if current_setting('butler.work', true) = 'erasure' and tg_op <> 'TRUNCATE' then
        return null;
      end if;
      `;

const ENTITIES = ["episode", "fact", "rule", "read", "embedding_version", "consolidation"];
const entities = (list: readonly string[]) => `alter table memory_events add constraint memory_events_entity_type_check
     check (entity_type in (${list.map((name) => `'${name}'`).join(", ")}))`;

const UP = [
  `create table erasure_receipts (
     seq int8 generated always as identity primary key,
     id uuid not null unique,
     tenant_id text not null check (tenant_id <> ''),
     butler text not null,
     kind text not null check (kind in ('subject', 'session', 'id')),
     erased_at timestamptz not null,
     actor text not null,
     memories uuid[] not null,
     counts jsonb not null check (jsonb_typeof(counts) = 'object'),
     before bytea not null,
     hash bytea not null check (length(hash) = 32))`,
  `create index erasure_receipts_chain on erasure_receipts (tenant_id, seq)`,
  `create function erasure_receipts_append_only() returns trigger language plpgsql as $$
    begin
      raise exception 'erasure_receipts is append-only' using errcode = 'integrity_constraint_violation';
    end $$`,
  `create trigger erasure_receipts_no_change before delete or update or truncate on erasure_receipts
     for each statement execute function erasure_receipts_append_only()`,
  refusing(BY_AN_ERASURE),
  `create function memory_events_only_blanked() returns trigger language plpgsql as $$
    begin
      if to_jsonb(new) - 'payload' is distinct from to_jsonb(old) - 'payload'
          or new.payload ->> 'erased' is distinct from current_setting('butler.erasure', true) then
        raise exception 'an erasure blanks payloads and changes nothing else' using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end $$`,
  `create trigger memory_events_blanked before update on memory_events
     for each row execute function memory_events_only_blanked()`,
  `alter table memory_events drop constraint memory_events_entity_type_check`,
  entities([...ENTITIES, "erasure"]),
  SECURE_TABLES,
];

const DOWN = [
  `alter table memory_events drop constraint memory_events_entity_type_check`,
  `alter table memory_events disable trigger memory_events_no_change`,
  `delete from memory_events where entity_type = 'erasure'`,
  `alter table memory_events enable trigger memory_events_no_change`,
  entities(ENTITIES),
  `drop trigger memory_events_blanked on memory_events`,
  `drop function memory_events_only_blanked()`,
  refusing(BY_NAME),
  `drop table erasure_receipts`,
  `drop function erasure_receipts_append_only()`,
];

const run = (statements: readonly string[]) => async (db: Kysely<unknown>) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

export const mem_0013_erasure = { up: run(UP), down: run(DOWN) };
