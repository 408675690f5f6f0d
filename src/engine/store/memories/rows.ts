/** Inserting whole rows from JSON: one statement for any number of rows, and the same one for replaying them from events. */
import type { Sql } from "../../adapters/db/port.ts";

/** A complete row as JSON: timestamps in ISO form, bytea as `\x…`, vectors as `[…]`. */
export type JsonRow = Readonly<Record<string, unknown>>;

export async function insertRows(
  sql: Sql,
  table: string,
  columns: readonly string[],
  rows: readonly JsonRow[],
  tail = "",
): Promise<Record<string, unknown>[]> {
  if (rows.length === 0) return [];
  const list = columns.join(", ");
  return sql.query(
    `insert into ${table} (${list}) select ${list} from jsonb_populate_recordset(null::${table}, $1::jsonb) ${tail}`,
    [JSON.stringify(rows)],
  );
}

export const byteaLiteral = (bytes: Uint8Array): string => `\\x${Buffer.from(bytes).toString("hex")}`;

export const vectorLiteral = (vector: Float32Array): string => `[${vector.join(",")}]`;
