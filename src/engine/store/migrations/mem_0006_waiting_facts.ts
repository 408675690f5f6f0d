/** A fact that begins to be true on a day ahead waits beside the one that is true until then. */
import { type Kysely, sql } from "kysely";

const UP = [
  `alter table facts add waits_until timestamptz`,
  `alter table facts add constraint facts_waits_check check (waits_until is null or waits_until = valid_from)`,
  `drop index facts_one_live`,
  // One that is true now, and for each moment ahead at most one that waits for it.
  `create unique index facts_one_live on facts (tenant_id, scope, subject, predicate, waits_until) nulls not distinct
    where validity in ('active', 'fading')`,
  `create index facts_waiting on facts (waits_until, id) where waits_until is not null and validity in ('active', 'fading')`,
];

const DOWN = [
  `drop index facts_waiting`,
  `drop index facts_one_live`,
  `update facts set validity = 'expired' where waits_until is not null and validity in ('active', 'fading')`,
  `create unique index facts_one_live on facts (tenant_id, scope, subject, predicate)
    where validity in ('active', 'fading')`,
  `alter table facts drop constraint facts_waits_check`,
  `alter table facts drop waits_until`,
];

async function run(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

export const mem_0006_waiting_facts = {
  up: (db: Kysely<unknown>) => run(db, UP),
  down: (db: Kysely<unknown>) => run(db, DOWN),
};
