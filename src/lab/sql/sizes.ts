/** SQL for benchmarks alone: the sizes of tables, and filling a store with a million memories without a million forward passes. */
import type { Db, Sql } from "../../engine/adapters/db/port.ts";
import { byteaLiteral, vectorLiteral } from "../../engine/store/memories/rows.ts";

/** Bytes that vectors and token bits take together, and in which parts. */
export interface VectorBytes {
  readonly rows: number;
  readonly table: number;
  readonly toast: number;
  readonly ann_index: number;
  readonly other_indexes: number;
}

export async function vectorBytes(sql: Sql, version: number): Promise<VectorBytes> {
  const [row] = await sql.query<Record<keyof VectorBytes, number>>(
    `select (select count(*)::float8 from embeddings) as rows,
       (pg_table_size(c.oid) - t.bytes)::float8 as table, t.bytes::float8 as toast,
       a.bytes::float8 as ann_index, (pg_indexes_size(c.oid) - a.bytes)::float8 as other_indexes
     from pg_class c,
       lateral (select case c.reltoastrelid when 0 then 0 else pg_total_relation_size(c.reltoastrelid) end as bytes) t,
       lateral (select coalesce(pg_relation_size(to_regclass($1)), 0) as bytes) a
     where c.oid = 'embeddings'::regclass`,
    [`embeddings_ann_${version}`],
  );
  return row ?? { rows: 0, table: 0, toast: 0, ann_index: 0, other_indexes: 0 };
}

/** A text that went through the model. */
export interface Sample {
  readonly vector: Float32Array;
  readonly pieces: number;
  readonly bits: Uint8Array;
}

/** pgvector cannot multiply a vector by a number, so the sample is also kept scaled down, as the weaker part of a mixture. */
export async function putSamples(
  db: Db,
  samples: readonly Sample[],
  quieter: (vector: Float32Array) => Float32Array,
  noise: readonly Float32Array[],
): Promise<void> {
  await db.exec(`drop table if exists bench_sample, bench_noise;
    create unlogged table bench_sample (i int4 primary key, loud vector, quiet vector, pieces int4, tokens bytea);
    create unlogged table bench_noise (i int4 primary key, v vector)`);
  for (let from = 0; from < samples.length; from += 500) {
    const rows = samples.slice(from, from + 500).map(({ vector, pieces, bits }, index) => ({
      i: from + index,
      loud: vectorLiteral(vector),
      quiet: vectorLiteral(quieter(vector)),
      pieces,
      tokens: byteaLiteral(bits),
    }));
    await db.query(`insert into bench_sample select * from jsonb_populate_recordset(null::bench_sample, $1::jsonb)`, [
      JSON.stringify(rows),
    ]);
  }
  await db.query(`insert into bench_noise select * from jsonb_populate_recordset(null::bench_noise, $1::jsonb)`, [
    JSON.stringify(noise.map((v, i) => ({ i, v: vectorLiteral(v) }))),
  ]);
  await db.exec("analyze bench_sample; analyze bench_noise");
}

export const dropSamples = (db: Db) => db.exec("drop table if exists bench_sample, bench_noise");

/** The samples that a vector is a mixture of; `second` and `third` are null where the vector is the model's own. */
export interface Mixture {
  readonly id: string;
  readonly sk: number;
  readonly first: number;
  readonly second: number | null;
  readonly third: number | null;
  readonly noise: number;
}

/**
 * The normalised sum, and half of the tokens of the first two. The server does the arithmetic: a million vectors as text
 * would be 4 GB through the driver.
 */
export async function putMixtures(
  sql: Sql,
  version: number,
  tokenBytes: number,
  visibleUntil: Date | undefined,
  mixtures: readonly Mixture[],
): Promise<void> {
  const half = (s: string) =>
    `substring(${s}.tokens from 1 + ${tokenBytes} * (u.noise % greatest(1, octet_length(${s}.tokens) / ${2 * tokenBytes}))
       for ${tokenBytes} * greatest(1, octet_length(${s}.tokens) / ${2 * tokenBytes}))`;
  await sql.query(
    `insert into embeddings (memory_id, version_id, sk, visible_until, embedding, word_pieces, tokens, tenant_id)
     select u.id, ${version}, u.sk, $7::timestamptz,
       case when b.i is null then a.loud when c.i is null then l2_normalize(a.loud + b.quiet + n.v)
         else l2_normalize(a.loud + b.quiet + c.quiet + n.v) end,
       coalesce((a.pieces + b.pieces) / 2, a.pieces),
       case when b.i is null then a.tokens else ${half("a")} || ${half("b")} end,
       (select s.tenant_id from shelves s where s.sk = u.sk)
     from unnest($1::uuid[], $2::int4[], $3::int4[], $4::int4[], $5::int4[], $6::int4[])
       as u (id, sk, first, second, third, noise)
     join bench_sample a on a.i = u.first left join bench_sample b on b.i = u.second
     left join bench_sample c on c.i = u.third left join bench_noise n on n.i = u.noise`,
    [
      mixtures.map((m) => m.id),
      mixtures.map((m) => m.sk),
      mixtures.map((m) => m.first),
      mixtures.map((m) => m.second),
      mixtures.map((m) => m.third),
      mixtures.map((m) => m.noise),
      visibleUntil === undefined ? "infinity" : visibleUntil.toISOString(),
    ],
  );
}

/** Tenant, butler and creation time of the rows. */
export interface Born {
  readonly tenant: string;
  readonly butler: string;
  readonly now: Date;
}

export interface BulkEpisode {
  readonly id: string;
  readonly session_id: string;
  readonly ordinal: number;
  readonly speaker: string | null;
  readonly content: string;
  readonly importance: number;
}

export async function bulkEpisodes(
  sql: Sql,
  { tenant, butler, now }: Born,
  expiresAt: Date,
  rows: readonly BulkEpisode[],
): Promise<void> {
  await sql.query(
    `insert into episodes (id, tenant_id, butler, session_id, ordinal, speaker, content, content_key, importance,
       occurred_at, expires_at, source_butler, source, created_at)
     select u.id, $7, $8, u.session_id, u.ordinal, u.speaker, u.content,
       decode(md5(u.session_id || ' ' || u.ordinal), 'hex'), u.importance, $9, $10, $8, 'session:' || u.session_id, $9
     from unnest($1::uuid[], $2::text[], $3::int4[], $4::text[], $5::text[], $6::float8[])
       as u (id, session_id, ordinal, speaker, content, importance)`,
    [
      rows.map((row) => row.id),
      rows.map((row) => row.session_id),
      rows.map((row) => row.ordinal),
      rows.map((row) => row.speaker),
      rows.map((row) => row.content),
      rows.map((row) => row.importance),
      tenant,
      butler,
      now,
      expiresAt,
    ],
  );
}

export interface BulkFact {
  readonly id: string;
  readonly scope: string;
  readonly subject: string;
  readonly predicate: string;
  readonly subject_text: string;
  readonly predicate_text: string;
  readonly content: string;
  readonly importance: number;
  readonly permanence: string;
  readonly confidence: number;
  readonly decay_rate: number;
}

export async function bulkFacts(sql: Sql, { tenant, butler, now }: Born, rows: readonly BulkFact[]): Promise<void> {
  await sql.query(
    `insert into facts (id, tenant_id, scope, subject, predicate, subject_text, predicate_text, content, importance,
       permanence, confidence, decay_rate, last_confirmed_at, source_butler, source, created_at)
     select u.id, $2, u.scope, u.subject, u.predicate, u.subject_text, u.predicate_text, u.content, u.importance,
       u.permanence, u.confidence, u.decay_rate, $4, $3, 'manual', $4
     from jsonb_populate_recordset(null::facts, $1::jsonb) as u`,
    [JSON.stringify(rows), tenant, butler, now],
  );
}

export interface BulkRule {
  readonly id: string;
  readonly scope: string;
  readonly content: string;
  readonly confidence: number;
  readonly decay_rate: number;
}

export async function bulkRules(sql: Sql, { tenant, butler, now }: Born, rows: readonly BulkRule[]): Promise<void> {
  await sql.query(
    `insert into rules (id, tenant_id, scope, content, content_key, confidence, decay_rate, last_confirmed_at,
       source_butler, source, created_at)
     select u.id, $2, u.scope, u.content, uuid_send(u.id), u.confidence, u.decay_rate, $4, $3, 'manual', $4
     from jsonb_populate_recordset(null::rules, $1::jsonb) as u`,
    [JSON.stringify(rows), tenant, butler, now],
  );
}

export const tidyTables = (db: Db) =>
  db.exec("vacuum (analyze) embeddings, episodes, facts, rules, lex_doc, lex_block, shelves");

/**
 * For connections that are opened from now on. A graph of neighbours that outgrows its memory is built on disk, many times as
 * slowly; it takes about 2 KB a vector.
 */
export async function giveIndexMemory(db: Db, megabytes: number, workers: number): Promise<void> {
  const set = (name: string, value: string) =>
    `execute format('alter database %I set ${name} = ''${value}''', current_database());`;
  await db.exec(`do $$ begin ${set("maintenance_work_mem", `${Math.round(megabytes)}MB`)}
    ${set("max_parallel_maintenance_workers", String(workers))} end $$`);
}

/** How far a CREATE INDEX of another connection is, from 0 to 1; undefined when none is reading rows in. */
export async function indexProgress(sql: Sql): Promise<number | undefined> {
  const [row] = await sql.query<{ share: number | null }>(
    `select greatest(tuples_done::float8 / nullif(tuples_total, 0), blocks_done::float8 / nullif(blocks_total, 0), 0) as share
     from pg_stat_progress_create_index where datname = current_database() and phase like 'building index%' limit 1`,
  );
  return row === undefined ? undefined : (row.share ?? 0);
}
