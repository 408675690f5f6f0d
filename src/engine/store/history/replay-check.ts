/** Comparing two stores row by row, in pages of primary keys, without moving the rows that agree. */
import type { Sql } from "../../adapters/db/port.ts";
import type { RowJson } from "../../domain/replay.ts";
import { REPLAYED } from "./replay.ts";

export interface KeyDigest {
  readonly key: string;
  readonly rows: number;
  readonly digest: string;
}

const keyColumns = (table: string): readonly string[] => REPLAYED[table] ?? ["id"];

/**
 * One digest for all rows that share the first column of the primary key, a uuid: uuids sort alike everywhere, while the
 * texts further on in the key sort by the collation of each database.
 */
export function keyDigests(sql: Sql, table: string, after: string, limit: number): Promise<KeyDigest[]> {
  const [key] = keyColumns(table);
  return sql.query<KeyDigest>(
    `select t.${key} as key, count(*)::int4 as rows, encode(sha256(convert_to(
       string_agg(t::text, E'\\n' order by t::text collate "C"), 'UTF8')), 'hex') as digest
     from ${table} t where t.${key} > $1::uuid group by t.${key} order by t.${key} limit $2`,
    [after, limit],
  );
}

/** Whole rows of these keys, under the text of their full primary key. */
export async function rowsUnder(sql: Sql, table: string, keys: readonly string[]): Promise<Map<string, RowJson>> {
  if (keys.length === 0) return new Map();
  const columns = keyColumns(table);
  const rows = await sql.query<{ row: RowJson }>(
    `select to_jsonb(t) as row from ${table} t where ${columns[0]} = any($1::uuid[])`,
    [keys],
  );
  return new Map(rows.map(({ row }) => [columns.map((column) => String(row[column])).join(" "), row]));
}
