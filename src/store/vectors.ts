/** Vectors, filed by shelf and by the version of the model that made them. */
import type { Sql } from "../adapters/db/port.ts";
import type { ModelVersion } from "../adapters/embedder/port.ts";
import { insertRows, vectorLiteral } from "./rows.ts";

export interface VectorRow {
  readonly memoryId: string;
  readonly sk: number;
  readonly vector: Float32Array;
  /** After this moment a search need not look at it; `undefined` is for ever. */
  readonly visibleUntil: Date | undefined;
}

const COLUMNS = ["memory_id", "version_id", "sk", "visible_until", "embedding"];

export async function putVectors(sql: Sql, version: number, rows: readonly VectorRow[]): Promise<void> {
  await insertRows(
    sql,
    "embeddings",
    COLUMNS,
    rows.map((row) => ({
      memory_id: row.memoryId,
      version_id: version,
      sk: row.sk,
      visible_until: row.visibleUntil ?? "infinity",
      embedding: vectorLiteral(row.vector),
    })),
    `on conflict (memory_id, version_id) do update
       set sk = excluded.sk, visible_until = excluded.visible_until, embedding = excluded.embedding`,
  );
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

/** The row of this model in `embedding_versions`, made at first use; `made` says whether this call made it. */
export async function versionRow(sql: Sql, model: ModelVersion, now: Date): Promise<{ id: number; made: boolean }> {
  const made = await sql.query<{ id: number }>(
    `insert into embedding_versions (model, variant, dimensions, sha256, created_at) values ($1, $2, $3, $4, $5)
     on conflict (model, variant, sha256) do nothing returning id`,
    [model.model, model.variant, model.dimensions, model.sha256, now],
  );
  if (made[0]) return { id: made[0].id, made: true };
  const found = await sql.query<{ id: number }>(
    `select id from embedding_versions where model = $1 and variant = $2 and sha256 = $3`,
    [model.model, model.variant, model.sha256],
  );
  if (!found[0]) throw new Error("embedding version vanished between insert and select");
  return { id: found[0].id, made: false };
}
