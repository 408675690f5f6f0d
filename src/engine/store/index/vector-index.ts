/** The vector index: none while comparing all is fast, then ivfflat, then hnsw. */
import type { Db } from "../../adapters/db/port.ts";

import type { IndexKind } from "../../domain/ranking/index-kind.ts";
import { comparedAs } from "./vectors.ts";

export interface IndexState {
  readonly kind: IndexKind;
  readonly rows: number;
  /** Rows when the index was built; an ivfflat index does not learn new centres. */
  readonly builtAt: number;
}

const nameOf = (version: number) => `embeddings_ann_${version}`;

export async function indexState(db: Db, version: number): Promise<IndexState> {
  const [row] = await db.query<{ rows: number; method: string | null; comment: string | null; valid: boolean | null }>(
    `select (select count(*)::int4 from embeddings where version_id = $1) as rows, am.amname as method,
       obj_description(c.oid, 'pg_class') as comment, i.indisvalid as valid
     from (select 1) one
     left join pg_class c on c.relname = $2 and c.relkind = 'i'
     left join pg_index i on i.indexrelid = c.oid
     left join pg_am am on am.oid = c.relam`,
    [version, nameOf(version)],
  );
  const kind = row?.valid && (row.method === "ivfflat" || row.method === "hnsw") ? row.method : "none";
  return { kind, rows: row?.rows ?? 0, builtAt: Number(row?.comment ?? 0) };
}

const concurrently = (db: Db) => (db.kind === "postgres" ? "concurrently " : "");

export async function dropIndex(db: Db, version: number): Promise<void> {
  await db.exec(`drop index ${concurrently(db)}if exists ${nameOf(version)}`);
}

/** Of a million vectors the ordinary graph found 93 % of the 20 nearest; building this one takes two to three times as long. */
const DENSE_FROM = 500_000;
const DENSE = "m = 24, ef_construction = 128";

/** Replaces the index. A server goes on answering meanwhile; the embedded store waits, so it is done when nobody asks. */
export async function buildIndex(
  db: Db,
  version: number,
  dimensions: number,
  kind: IndexKind,
  rows: number,
): Promise<void> {
  const name = nameOf(version);
  await dropIndex(db, version);
  if (kind === "none") return;
  const lists = Math.max(16, Math.min(2000, Math.round(2 * Math.sqrt(rows))));
  const options = kind === "ivfflat" ? `lists = ${lists}` : rows < DENSE_FROM ? "m = 16, ef_construction = 64" : DENSE;
  const as = comparedAs(db.kind, dimensions);
  const operators = as.startsWith("halfvec") ? "halfvec_cosine_ops" : "vector_cosine_ops";
  await db.exec(
    `create index ${concurrently(db)}${name} on embeddings
       using ${kind} ((embedding::${as}) ${operators}) with (${options})
       where version_id = ${version}`,
  );
  await db.exec(`comment on index ${name} is '${rows}'`);
}
