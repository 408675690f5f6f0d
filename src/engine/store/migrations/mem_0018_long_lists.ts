/**
 * Of the lists of frequent words: how many memories have the word, what bounds its weight, and blocks without the lengths of memories, so
 * that a search need not read them whole. Maintenance fills the table.
 */
import { type Kysely, sql } from "kysely";
import { SECURE_TABLES } from "../access/row-security.ts";

const UP = [
  `create table lex_long (
     key int8 not null,
     df int4 not null,
     least bytea not null,
     tenant_id text not null,
     primary key (key, tenant_id))`,
  `alter table lex_block add slim bytea`,
  `alter table lex_block alter slim set storage main`,
  SECURE_TABLES,
];

const DOWN = [`alter table lex_block drop slim`, `drop table lex_long`];

const run = (statements: readonly string[]) => async (db: Kysely<unknown>) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

export const mem_0018_long_lists = { up: run(UP), down: run(DOWN) };
