/** Reads everything with words that a tenant has stored, page by page, and writes it back changed. */
import type { Sql } from "../../adapters/db/port.ts";
import type { RowJson } from "../../domain/replay.ts";
import { isFiled } from "../memories/live.ts";

export type TextTable = "episodes" | "facts" | "rules" | "rule_applications" | "consolidation_runs";

export interface TextRow {
  readonly id: string;
  readonly row: RowJson;
}

export function readTexts(
  sql: Sql,
  tenant: string,
  table: TextTable,
  after: string,
  limit: number,
): Promise<TextRow[]> {
  return sql.query<TextRow>(
    `select id, to_jsonb(t) as row from ${table} t where tenant_id = $1 and id > $2::uuid order by id limit $3`,
    [tenant, after, limit],
  );
}

/** Only these columns, and only of this tenant. */
export async function writeTexts(sql: Sql, tenant: string, table: TextTable, id: string, set: RowJson): Promise<void> {
  const columns = Object.keys(set);
  await sql.query(
    `update ${table} t set ${columns.map((column) => `${column} = n.${column}`).join(", ")}
     from jsonb_populate_record(null::${table}, $3::jsonb) as n where t.tenant_id = $1 and t.id = $2`,
    [tenant, id, JSON.stringify(set)],
  );
}

export interface KeptAnswer {
  readonly butler: string;
  readonly tool: string;
  readonly key: string;
  readonly answer: RowJson;
}

export function readAnswers(
  sql: Sql,
  tenant: string,
  after: Pick<KeptAnswer, "butler" | "tool" | "key">,
  limit: number,
): Promise<KeptAnswer[]> {
  return sql.query<KeptAnswer>(
    `select butler, tool, key, answer from idempotency_keys
     where tenant_id = $1 and (butler, tool, key) > ($2, $3, $4) order by butler, tool, key limit $5`,
    [tenant, after.butler, after.tool, after.key, limit],
  );
}

export async function writeAnswer(sql: Sql, tenant: string, { butler, tool, key, answer }: KeptAnswer): Promise<void> {
  await sql.query(
    "update idempotency_keys set answer = $5::jsonb where tenant_id = $1 and butler = $2 and tool = $3 and key = $4",
    [tenant, butler, tool, key, JSON.stringify(answer)],
  );
}

/** The receipt must have been written in the same transaction: the stream refuses every other change. */
export async function writePayloads(
  sql: Sql,
  tenant: string,
  receipt: string,
  events: readonly { readonly seq: string; readonly payload: RowJson }[],
): Promise<void> {
  await sql.query("select set_config('butler.erasure', $1, true)", [receipt]);
  for (const { seq, payload } of events)
    await sql.query("update memory_events set payload = $3::jsonb where tenant_id = $1 and seq = $2::int8", [
      tenant,
      seq,
      JSON.stringify({ ...payload, erased: receipt }),
    ]);
  await sql.query("select set_config('butler.erasure', '', true)");
}

/** Those of these memories whose words are in the index, and on which shelf. */
export function filedOn(sql: Sql, ids: readonly string[]): Promise<{ id: string; sk: number }[]> {
  return sql.query(`select memory_id as id, sk from lex_doc where memory_id = any($1::uuid[]) and ${isFiled()}`, [ids]);
}

export async function dropVectors(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query("delete from embeddings where memory_id = any($1::uuid[])", [ids]);
}

/** Whether another rule of the scope has this key. */
export async function ruleKeyTaken(
  sql: Sql,
  tenant: string,
  { id, scope, key }: { readonly id: string; readonly scope: string; readonly key: string },
): Promise<boolean> {
  const rows = await sql.query(
    `select 1 as one from rules where tenant_id = $1 and scope = $2 and content_key = $3::bytea and id <> $4 limit 1`,
    [tenant, scope, key, id],
  );
  return rows.length > 0;
}
