/**
 * Row security on every table that holds something of a tenant, and the role that tenants' calls run as. Three tables have none: the
 * versions of the embedding model and the runs of jobs belong to the store as a whole, and the migrations to nobody; the tenants' role
 * has no right to any of them.
 */
import { type Kysely, sql } from "kysely";
import { SECURE_TABLES, UNSECURE_TABLES } from "../access/row-security.ts";

/** Text must be erasable from events too, by whoever may delete the whole table anyway and says that this is what it does. */
const appendOnly = (
  exception: string,
) => `create or replace function memory_events_append_only() returns trigger language plpgsql as $$
    begin
      ${exception}raise exception 'memory_events is append-only' using errcode = 'integrity_constraint_violation';
    end $$`;

const FOR_ERASURE = `if current_setting('butler.work', true) = 'erasure' and tg_op <> 'TRUNCATE' then
        return null;
      end if;
      `;

export const mem_0012_row_security = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [appendOnly(FOR_ERASURE), SECURE_TABLES]) await sql.raw(statement).execute(db);
  },
  async down(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...UNSECURE_TABLES, appendOnly("")]) await sql.raw(statement).execute(db);
  },
};
