/**
 * Whether an untrusted fact or rule was corroborated by another source, and until when one waits for a person to look at it. The indexes
 * hold the few that wait. And receipts of redactions, which change payloads of the stream as an erasure does.
 */
import { type Kysely, sql } from "kysely";

const TABLES = ["facts", "rules"];

const kinds = (list: string, more = "") => [
  `alter table erasure_receipts drop constraint erasure_receipts_kind_check`,
  `alter table erasure_receipts add constraint erasure_receipts_kind_check check (kind in (${list}))${more}`,
];

const UP = [
  ...TABLES.flatMap((table) => [
    `alter table ${table} add corroborated_at timestamptz, add review_until timestamptz`,
    `create index ${table}_review on ${table} (tenant_id, review_until, id) where review_until is not null`,
  ]),
  ...kinds("'subject', 'session', 'id', 'redaction'"),
];

const DOWN = [
  // Receipts that are there stay: nobody takes one out of its chain.
  ...kinds("'subject', 'session', 'id'", " not valid"),
  ...TABLES.map((table) => `alter table ${table} drop corroborated_at, drop review_until`),
];

const run = (statements: readonly string[]) => async (db: Kysely<unknown>) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

export const mem_0014_quarantine = { up: run(UP), down: run(DOWN) };
