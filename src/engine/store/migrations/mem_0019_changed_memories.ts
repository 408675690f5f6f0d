/**
 * Which memories each transaction has changed, for those who keep them in memory beside a server: engine/store/read-model/changes.ts. The
 * triggers that write it are made by the first of them; an embedded store has others, and leaves both tables empty.
 */
import { type Kysely, sql } from "kysely";
import { SECURE_TABLES } from "../access/row-security.ts";

const UP = [
  `create unlogged table change_log (id uuid not null, dropped xid8 not null)`,
  `create unlogged table changed_memories (
     xid xid8 not null default pg_current_xact_id(),
     at timestamptz not null default clock_timestamp(),
     counted bool not null,
     tenant_id text not null,
     ids uuid[] not null)`,
  `create index changed_memories_since on changed_memories (tenant_id, xid)`,
  `create index changed_memories_age on changed_memories (at)`,
  SECURE_TABLES,
];

/** With the functions of the triggers, which are of no use without the table. */
const DOWN = [
  `do $$
    declare noted record;
    begin
      for noted in select p.oid::regprocedure as name from pg_proc p
        where p.proname ~ '^noted_[0-9]+_' and p.pronamespace = current_schema()::regnamespace loop
        execute format('drop function %s cascade', noted.name);
      end loop;
    end $$`,
  `drop table changed_memories`,
  `drop table change_log`,
];

const run = (statements: readonly string[]) => async (db: Kysely<unknown>) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

export const mem_0019_changed_memories = { up: run(UP), down: run(DOWN) };
