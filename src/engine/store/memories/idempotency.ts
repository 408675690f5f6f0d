/** Answers kept under the key a caller gave, so that a repeated call changes nothing and gets the same answer. */
import type { Sql } from "../../adapters/db/port.ts";
import { byteaLiteral, insertRows } from "./rows.ts";

/** Keys are told apart by tenant, calling butler and tool. */
export interface KeyOwner {
  readonly tenant: string;
  readonly butler: string;
  readonly tool: string;
}

export interface KeptAnswer {
  readonly key: string;
  readonly input_hash: Uint8Array;
  readonly answer: Record<string, unknown>;
}

export async function findAnswers(
  sql: Sql,
  owner: KeyOwner,
  keys: readonly string[],
): Promise<Map<string, KeptAnswer>> {
  if (keys.length === 0) return new Map();
  const rows = await sql.query<KeptAnswer>(
    `select key, input_hash, answer from idempotency_keys
     where tenant_id = $1 and butler = $2 and tool = $3 and key = any($4::text[])`,
    [owner.tenant, owner.butler, owner.tool, keys],
  );
  return new Map(rows.map((row) => [row.key, row]));
}

export interface NewAnswer extends KeptAnswer {
  readonly created_at: Date;
}

/** False when another transaction kept an answer under one of these keys first. */
export async function keepAnswers(sql: Sql, owner: KeyOwner, answers: readonly NewAnswer[]): Promise<boolean> {
  const rows = answers.map((kept) => ({
    tenant_id: owner.tenant,
    butler: owner.butler,
    tool: owner.tool,
    key: kept.key,
    input_hash: byteaLiteral(kept.input_hash),
    answer: kept.answer,
    created_at: kept.created_at,
  }));
  const columns = ["tenant_id", "butler", "tool", "key", "input_hash", "answer", "created_at"];
  const made = await insertRows(sql, "idempotency_keys", columns, rows, "on conflict do nothing returning key");
  return made.length === rows.length;
}
