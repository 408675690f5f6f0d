/** Every mark is a row, those of a session that had told the same before too; no rule comes of a tool's words. */
import { type Kysely, sql } from "kysely";

const once = (more: string) => [
  `drop index rule_applications_once`,
  `create unique index rule_applications_once on rule_applications (rule_id, outcome, session_id)
    where session_id is not null${more}`,
];

const UP = [
  `alter table rule_applications add counted boolean not null default true`,
  ...once(" and counted"),
  `alter table rules add constraint rules_of_no_tool check (trust <> 'tool')`,
];

const DOWN = [
  `alter table rules drop constraint rules_of_no_tool`,
  `delete from rule_applications where not counted`,
  ...once(""),
  `alter table rule_applications drop counted`,
];

async function run(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

export const mem_0005_lineage = {
  up: (db: Kysely<unknown>) => run(db, UP),
  down: (db: Kysely<unknown>) => run(db, DOWN),
};
