/** Vectors and the bits of their tokens, filed by shelf and by the version of the model that made them. */
import type { Db, Sql } from "../../adapters/db/port.ts";
import { concat } from "../../domain/ranking/words/postings.ts";
import { TENANT_OF_SHELF } from "../memories/shelves.ts";
import { offsets } from "./lexical.ts";

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

/** Numbers and bits travel as one value each with offsets, as words do. A row without a number of pieces has no bits. */
async function insertVectors(
  sql: Sql,
  version: number,
  rows: readonly VectorRow[],
  tail: string,
): Promise<readonly unknown[]> {
  if (rows.length === 0) return [];
  const sizes = rows.map(({ vector }) => vector.length);
  const bits = rows.map(({ tokens }) => tokens?.bits ?? NO_BITS);
  const from = offsets(sizes);
  return sql.query(
    `insert into embeddings (memory_id, version_id, sk, visible_until, embedding, word_pieces, tokens, tenant_id)
     select u.memory_id, $1::int4, u.sk, u.visible_until, (($10::float4[])[u.first:u.last])::halfvec, u.pieces,
       case when u.pieces is not null then substring($11::bytea from u.at for u.size) end, ${TENANT_OF_SHELF("u.sk")}
     from unnest($2::uuid[], $3::int4[], $4::timestamptz[], $5::int4[], $6::int4[], $7::int4[], $8::int4[], $9::int4[])
       as u (memory_id, sk, visible_until, first, last, pieces, at, size)
     on conflict (memory_id, version_id, tenant_id) do update ${tail}`,
    [
      version,
      rows.map(({ memoryId }) => memoryId),
      rows.map(({ sk }) => sk),
      rows.map(({ visibleUntil }) => visibleUntil?.toISOString() ?? "infinity"),
      from,
      sizes.map((size, at) => (from[at] as number) + size - 1),
      rows.map(({ tokens }) => tokens?.pieces ?? null),
      offsets(bits.map(({ length }) => length)),
      bits.map(({ length }) => length),
      joined(rows.map(({ vector }) => vector)),
      concat(bits),
    ],
  );
}

const NO_BITS = new Uint8Array(0);

function joined(vectors: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const vector of vectors) {
    all.set(vector, at);
    at += vector.length;
  }
  return all;
}

export async function putVectors(sql: Sql, version: number, rows: readonly VectorRow[]): Promise<void> {
  await insertVectors(
    sql,
    version,
    rows,
    `set sk = excluded.sk, visible_until = excluded.visible_until, embedding = excluded.embedding,
         word_pieces = excluded.word_pieces, tokens = excluded.tokens`,
  );
}

/**
 * Adds vectors that were missing, or token bits where a vector had none; a vector that a writer has added meanwhile is newer and
 * stays. An existing row keeps its shelf and its visibility. Returns how many were added or completed.
 */
export async function addVectors(sql: Sql, version: number, rows: readonly VectorRow[]): Promise<number> {
  const made = await insertVectors(
    sql,
    version,
    rows,
    `set embedding = excluded.embedding, word_pieces = excluded.word_pieces, tokens = excluded.tokens
       where embeddings.tokens is null
     returning 1 as one`,
  );
  return made.length;
}

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
