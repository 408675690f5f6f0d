/**
 * Versions of embeddings, and the way from one to the next.
 *
 *   building ──every memory has its vector──▶ serving ──another one serves──▶ retired (its vectors are deleted)
 *      ▲                                                                        │
 *      └───────────────────────── the model is chosen again ────────────────────┘
 */

import type { Db, Sql } from "../../adapters/db/port.ts";
import type { ModelVersion } from "../../adapters/embedder/port.ts";
import type { Fading } from "../../domain/lifecycle/decay.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { factText, isFiled, isInTime } from "../memories/live.ts";

export interface VersionRow extends ModelVersion {
  readonly id: number;
  readonly state: "building" | "serving" | "retired";
}

/** Sorts before every UUID. */
export const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/** One decision about versions at a time, whichever process takes it. */
const lockVersions = (sql: Sql) =>
  sql.query(`select pg_advisory_xact_lock(hashtextextended('embedding_versions', 7031))`);

export const readVersions = (sql: Sql): Promise<VersionRow[]> =>
  sql.query<VersionRow>(`select id, model, variant, dimensions, sha256, state from embedding_versions order by id`);

/** The row of this model, made at first use. It serves at once unless another version serves that has vectors. */
export async function enrolVersion(db: Db, model: ModelVersion, now: Date): Promise<number> {
  return db.tx(async (sql) => {
    await lockVersions(sql);
    await sql.query(
      `insert into embedding_versions (model, variant, dimensions, sha256, state, created_at)
       values ($1, $2, $3, $4, 'building', $5) on conflict (model, variant, sha256) do nothing`,
      [model.model, model.variant, model.dimensions, model.sha256, now],
    );
    const [own] = await sql.query<VersionRow>(
      `select id, state from embedding_versions where model = $1 and variant = $2 and sha256 = $3`,
      [model.model, model.variant, model.sha256],
    );
    if (!own) throw new Error("embedding version vanished between insert and select");
    if (own.state === "serving") return own.id;
    const [other] = await sql.query(
      `select 1 from embedding_versions v where v.state = 'serving' and v.id <> $1
         and exists (select from embeddings e where e.version_id = v.id) limit 1`,
      [own.id],
    );
    if (other === undefined) await serve(sql, own.id);
    else await sql.query(`update embedding_versions set state = 'building' where id = $1`, [own.id]);
    return own.id;
  });
}

const serve = (sql: Sql, version: number) =>
  sql.query(
    `update embedding_versions set state = case when id = $1 then 'serving' else 'retired' end
     where id = $1 or state <> 'retired'`,
    [version],
  );

export interface Unvectored extends Fading {
  readonly id: string;
  /** Null when the memory is gone or its time is over: nothing to embed. */
  readonly type: MemoryType | null;
  readonly text: string;
  /** Of an episode: who says it, and everyone who speaks in its session, by the first word of their name. */
  readonly speaker: string | null;
  readonly names: readonly string[] | null;
  readonly sk: number;
  readonly until: Date | null;
  /** Whether it has a vector of the version that is replaced; the new vector is then visible for as long as the old one. */
  readonly replaces: boolean;
  readonly seen_until: Date | null;
}

/** A vector from before token bits were kept is as good as none: it is made again, with them. */
const without = (id: string) =>
  `not exists (select from embeddings have where have.memory_id = ${id} and have.version_id = $1
     and have.tokens is not null)`;

/** Memories that are in the index or have a vector of version $2: a memory that is hidden today may be restored tomorrow. */
const missing = (after: string, tail: string) => `
  (select d.memory_id as id from lex_doc d where ${isFiled("d")} ${after && `and d.memory_id > ${after}`}
     and ${without("d.memory_id")} ${tail})
  union
  (select o.memory_id from embeddings o where o.version_id = $2::int4 ${after && `and o.memory_id > ${after}`}
     and ${without("o.memory_id")} ${tail})`;

const BODIES = `left join episodes e on e.id = p.id and ${isInTime("e", "$3")}
     left join facts f on f.id = p.id
     left join rules r on r.id = p.id`;

/** By id, so that each page costs the same however many are done; the last page is shorter than `limit`. */
export function findUnvectored(
  sql: Sql,
  query: { version: number; replacing: number | undefined; now: Date; after: string; limit: number },
): Promise<Unvectored[]> {
  return sql.query<Unvectored>(
    `with picked as materialized (
       select id from (${missing("$4::uuid", "order by 1 limit $5")}) as missing order by id limit $5),
     spoken as materialized (
       select s.tenant_id, s.session_id, array(
         select distinct lower(split_part(e.speaker, ' ', 1)) from episodes e
         where e.tenant_id = s.tenant_id and e.session_id = s.session_id and e.speaker is not null) as names
       from (select distinct e.tenant_id, e.session_id from picked p join episodes e on e.id = p.id
         where e.speaker is not null and e.session_id is not null) as s)
     select p.id, coalesce(d.sk, o.sk) as sk,
       case when e.id is not null then 'episode' when f.id is not null then 'fact' when r.id is not null then 'rule' end
         as type,
       coalesce(e.content, ${factText("f")}, r.content, '')
         as text, e.speaker, s.names,
       coalesce(f.confidence, r.confidence, 1) as confidence, coalesce(f.decay_rate, r.decay_rate, 0) as decay_rate,
       coalesce(f.last_confirmed_at, r.last_confirmed_at, e.created_at, $3) as last_confirmed_at,
       coalesce(e.expires_at, f.valid_to) as until,
       o.memory_id is not null as replaces, nullif(o.visible_until, 'infinity') as seen_until
     from picked p
     left join lex_doc d on d.memory_id = p.id and ${isFiled("d")}
     left join embeddings o on o.memory_id = p.id and o.version_id = $2::int4
     ${BODIES}
     left join spoken s on s.tenant_id = e.tenant_id and s.session_id = e.session_id
     order by p.id`,
    [query.version, query.replacing ?? null, query.now, query.after, query.limit],
  );
}

export async function countUnvectored(
  sql: Sql,
  version: number,
  replacing: number | undefined,
  now: Date,
): Promise<number> {
  const [row] = await sql.query<{ n: number }>(
    `select count(*)::int4 as n from (${missing("", "")}) as p ${BODIES}
     where e.id is not null or f.id is not null or r.id is not null`,
    [version, replacing ?? null, now],
  );
  return row?.n ?? 0;
}

/** The share of memories that have their vector, from 0 to 1: an estimate, cheap enough for a status page. */
export async function shareRebuilt(sql: Sql, version: number, replacing: number): Promise<number> {
  const [row] = await sql.query<{ have: number; want: number }>(
    `select count(*) filter (where version_id = $1)::int4 as have,
       greatest(count(*) filter (where version_id = $2),
         (select count(*) from lex_doc where ${isFiled()}))::int4 as want
     from embeddings where version_id in ($1, $2)`,
    [version, replacing],
  );
  return !row || row.want === 0 ? 1 : Math.min(1, row.have / row.want);
}

/** A confirmation that came while the new vector was being made changed only the old vector; its visibility is taken over here. */
export async function copyVisibility(sql: Sql, from: number, to: number): Promise<void> {
  await sql.query(
    `update embeddings n set visible_until = o.visible_until, sk = o.sk from embeddings o
     where n.version_id = $2 and o.version_id = $1 and n.memory_id = o.memory_id
       and (n.visible_until <> o.visible_until or n.sk <> o.sk)`,
    [from, to],
  );
}

/**
 * Makes the new version serve, or returns false when a memory still lacks its vector. Writers wait during the last check:
 * a process that does not know the new model could otherwise add a memory after it.
 */
export async function handOver(db: Db, version: number, replacing: number | undefined, now: Date): Promise<boolean> {
  return db.tx(async (sql) => {
    await lockVersions(sql);
    await sql.query("lock table lex_doc in share mode");
    if ((await countUnvectored(sql, version, replacing, now)) > 0) return false;
    const [own] = await sql.query<VersionRow>(`select state from embedding_versions where id = $1`, [version]);
    if (own?.state !== "building") return false;
    await serve(sql, version);
    return true;
  });
}

export interface Leftover {
  readonly version: number;
  /** Undefined: only its index is left. */
  readonly sk: number | null;
  readonly index: boolean;
}

/** The vectors of retired versions that are still there, a shelf at a time. */
export const findLeftovers = (sql: Sql): Promise<Leftover[]> =>
  sql.query<Leftover>(
    `select v.id as version, s.sk, to_regclass('embeddings_ann_' || v.id) is not null as index
     from embedding_versions v
     left join shelves s on exists (select from embeddings e where e.sk = s.sk and e.version_id = v.id)
     where v.state = 'retired' and (s.sk is not null or to_regclass('embeddings_ann_' || v.id) is not null)
     order by v.id, s.sk`,
  );

export async function countLeftovers(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ n: number }>(
    `select count(*)::int4 as n from embeddings e join embedding_versions v on v.id = e.version_id
     where v.state = 'retired'`,
  );
  return row?.n ?? 0;
}

/** The lock keeps a process that chooses this model again from counting on vectors that are about to go. */
export async function dropRetired(db: Db, version: number, sk: number, limit: number): Promise<number> {
  return db.tx(async (sql) => {
    const [retired] = await sql.query(
      `select 1 from embedding_versions where id = $1 and state = 'retired' for share`,
      [version],
    );
    if (retired === undefined) return 0;
    const gone = await sql.query(
      `delete from embeddings where version_id = $1 and memory_id = any(array(
         select memory_id from embeddings where sk = $2 and version_id = $1 limit $3)) returning 1`,
      [version, sk, limit],
    );
    return gone.length;
  });
}
