/** Vectors and the bits of their tokens, filed by shelf and by the version of the model that made them. */
import type { Db, Sql } from "../../adapters/db/port.ts";
import { mapInTurns } from "../../adapters/turns.ts";
import { byteaLiteral, type JsonRow, vectorLiteral } from "../memories/rows.ts";
import { TENANT_OF_SHELF } from "../memories/shelves.ts";

/**
 * What vectors are compared as, and what their index holds. They are stored as halves; WebAssembly has no instruction for
 * those and compares them 4 times slower than floats, so the embedded store compares floats.
 */
export const comparedAs = (kind: Db["kind"], dimensions: number): string =>
  `${kind === "postgres" ? "halfvec" : "vector"}(${dimensions})`;

export interface VectorRow {
  readonly memoryId: string;
  readonly sk: number;
  readonly vector: Float32Array;
  /** Undefined when unknown: then the memory is ranked without them. */
  readonly tokens: { readonly pieces: number; readonly bits: Uint8Array } | undefined;
  /** Searches leave it out after this moment; `undefined` means never. */
  readonly visibleUntil: Date | undefined;
}

const COLUMNS = "memory_id, version_id, sk, visible_until, embedding, word_pieces, tokens";

async function insertVectors(sql: Sql, rows: readonly JsonRow[], tail: string): Promise<number> {
  if (rows.length === 0) return 0;
  const made = await sql.query(
    `insert into embeddings (${COLUMNS}, tenant_id)
     select ${COLUMNS}, ${TENANT_OF_SHELF("v.sk")} from jsonb_populate_recordset(null::embeddings, $1::jsonb) as v
     on conflict (memory_id, version_id, tenant_id) do update ${tail}`,
    [JSON.stringify(rows)],
  );
  return made.length;
}

export async function putVectors(sql: Sql, version: number, rows: readonly VectorRow[]): Promise<void> {
  await insertVectors(
    sql,
    await rowsOf(version, rows),
    `set sk = excluded.sk, visible_until = excluded.visible_until, embedding = excluded.embedding,
         word_pieces = excluded.word_pieces, tokens = excluded.tokens`,
  );
}

/**
 * Adds vectors that were missing, or token bits where a vector had none; a vector that a writer has added meanwhile is newer and
 * stays. An existing row keeps its shelf and its visibility. Returns how many were added or completed.
 */
export async function addVectors(sql: Sql, version: number, rows: readonly VectorRow[]): Promise<number> {
  return insertVectors(
    sql,
    await rowsOf(version, rows),
    `set embedding = excluded.embedding, word_pieces = excluded.word_pieces, tokens = excluded.tokens
       where embeddings.tokens is null
     returning 1 as one`,
  );
}

const rowsOf = (version: number, rows: readonly VectorRow[]) =>
  mapInTurns(
    rows,
    ({ vector }) => vector.length,
    (row) => ({
      memory_id: row.memoryId,
      version_id: version,
      sk: row.sk,
      visible_until: row.visibleUntil ?? "infinity",
      embedding: vectorLiteral(row.vector),
      word_pieces: row.tokens?.pieces ?? null,
      tokens: row.tokens ? byteaLiteral(row.tokens.bits) : null,
    }),
  );

/** Moves the end of visibility: forward when a memory is confirmed or restored, to the past when it goes. */
export async function setVisibility(sql: Sql, memoryId: string, until: Date | undefined): Promise<void> {
  await sql.query(`update embeddings set visible_until = $2::timestamptz where memory_id = $1`, [
    memoryId,
    until === undefined ? "infinity" : until.toISOString(),
  ]);
}

export async function dropVectors(sql: Sql, memoryId: string): Promise<void> {
  await sql.query(`delete from embeddings where memory_id = $1`, [memoryId]);
}
