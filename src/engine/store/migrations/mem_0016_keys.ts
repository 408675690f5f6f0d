/**
 * A change of the key of encryption writes texts anew, in the stream too: under the name of the job `rekey`, inside of a transaction that
 * writes a checkpoint, which has the hashes of the new payloads. Nothing but the payload changes, and it names the checkpoint.
 */
import { type Kysely, sql } from "kysely";

const CHECKPOINT = `exists (
          select from event_checkpoints where id::text = current_setting('butler.checkpoint', true) and xmin = pg_current_xact_id()::xid)`;

const appendOnly = (
  more: string,
) => `create or replace function memory_events_append_only() returns trigger language plpgsql as $$
    begin
      if current_setting('butler.work', true) = 'erasure' and (tg_op = 'DELETE' or tg_op = 'UPDATE' and exists (
          select from erasure_receipts where id::text = current_setting('butler.erasure', true) and xmin = pg_current_xact_id()::xid)) then
        return null;
      end if;
      if current_setting('butler.work', true) = 'retention' and tg_op <> 'TRUNCATE' and ${CHECKPOINT} then
        return null;
      end if;
      ${more}raise exception 'memory_events is append-only' using errcode = 'integrity_constraint_violation';
    end $$`;

const BY_REKEY = `if current_setting('butler.work', true) = 'rekey' and tg_op = 'UPDATE' and ${CHECKPOINT} then
        return null;
      end if;
      `;

const named = (work: string, place: string) => `(current_setting('butler.work', true) = '${work}'
            and new.payload #>> '${place}' is distinct from current_setting('butler.checkpoint', true))`;

const onlyPayload = (
  others: readonly string[],
  conditions: readonly string[],
) => `create or replace function memory_events_only_blanked() returns trigger language plpgsql as $$
    begin
      if to_jsonb(new) - 'payload' is distinct from to_jsonb(old) - 'payload'
          or (coalesce(current_setting('butler.work', true), '') not in (${others.map((name) => `'${name}'`).join(", ")})
            and new.payload ->> 'erased' is distinct from current_setting('butler.erasure', true))
          or ${conditions.join("\n          or ")} then
        raise exception 'a payload is blanked by an erasure or folded by retention, and nothing else changes' using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end $$`;

const kinds = (list: readonly string[]) => [
  `alter table event_checkpoints drop constraint event_checkpoints_kind_check`,
  `alter table event_checkpoints add constraint event_checkpoints_kind_check
     check (kind in (${list.map((kind) => `'${kind}'`).join(", ")}))`,
];

const FOLDED = named("retention", "{folded,checkpoint}");

const UP = [
  ...kinds(["reads", "memories", "events", "keys"]),
  `drop index event_checkpoints_until`,
  `create index event_checkpoints_until on event_checkpoints (tenant_id, until) where kind in ('memories', 'events')`,
  appendOnly(BY_REKEY),
  onlyPayload(["retention", "rekey"], [FOLDED, named("rekey", "{resealed}")]),
];

const DOWN = [
  `alter table event_checkpoints disable trigger event_checkpoints_no_change`,
  `delete from event_checkpoints where kind = 'keys'`,
  `alter table event_checkpoints enable trigger event_checkpoints_no_change`,
  ...kinds(["reads", "memories", "events"]),
  `drop index event_checkpoints_until`,
  `create index event_checkpoints_until on event_checkpoints (tenant_id, until) where kind <> 'reads'`,
  appendOnly(""),
  onlyPayload(["retention"], [FOLDED]),
];

const run = (statements: readonly string[]) => async (db: Kysely<unknown>) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

export const mem_0016_keys = { up: run(UP), down: run(DOWN) };
