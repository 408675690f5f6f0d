/** What the hygiene job looks at, a page at a time: memories and their entries in the indexes, links, old runs. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Link } from "../../domain/link.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { dropLexical, putLexical } from "../index/lexical.ts";
import { isFiled, isKept, isLive, isLiveOf, isVisible, TABLE_OF, textOf } from "../memories/live.ts";

/** A table with what is asked of it, as `m`; $1 is now, which a statement about facts or rules has no other use for. */
const tableOf = (type: MemoryType) => ({
  from: TABLE_OF[type],
  scope: type === "episode" ? "m.butler" : "m.scope",
  text: textOf(type, "m"),
  live: `${isLiveOf(type, "m", "$1")}${type === "episode" ? "" : " and $1::timestamptz is not null"}`,
});

export interface LiveMemory {
  readonly id: string;
  readonly tenant_id: string;
  readonly scope: string;
  readonly text: string;
  /** Its words are in the keyword index. */
  readonly filed: boolean;
}

export function liveMemories(
  sql: Sql,
  type: MemoryType,
  page: { now: Date; after: string; limit: number },
): Promise<LiveMemory[]> {
  const { from, scope, text, live } = tableOf(type);
  return sql.query<LiveMemory>(
    `select m.id, m.tenant_id, ${scope} as scope, ${text} as text,
       exists (select from lex_doc d where d.memory_id = m.id and ${isFiled("d")}) as filed
     from ${from} m where ${live} and m.id > $2 order by m.id limit $3`,
    [page.now, page.after, page.limit],
  );
}

/** Adds the memories to the index that are still live and still missing from it; the row lock makes a concurrent `memory_forget` wait. */
export async function fileUnfiled(
  sql: Sql,
  type: MemoryType,
  rows: readonly { readonly id: string; readonly sk: number }[],
  now: Date,
): Promise<number> {
  const { from, text, live } = tableOf(type);
  const found = await sql.query<{ id: string; text: string }>(
    `select m.id, ${text} as text from ${from} m where m.id = any($2::uuid[]) and ${live}
       and not exists (select from lex_doc d where d.memory_id = m.id and ${isFiled("d")})
     order by m.id for share of m`,
    [now, rows.map((row) => row.id)],
  );
  const shelf = new Map(rows.map((row) => [row.id, row.sk]));
  await putLexical(
    sql,
    found.map((row) => ({ memoryId: row.id, sk: shelf.get(row.id) ?? 0, text: row.text })),
  );
  return found.length;
}

/** An episode whose time is over keeps its words until it is cleaned away. */
const KNOWN = (id: string, live: boolean) => `(
    exists (select from episodes m where m.id = ${id} ${live ? `and ${isKept("m")}` : ""})
    or exists (select from facts m where m.id = ${id} ${live ? `and ${isLive("m")}` : ""})
    or exists (select from rules m where m.id = ${id} ${live ? `and ${isLive("m")}` : ""}))`;

export interface Entry {
  readonly id: string;
  /** Its memory is gone. */
  readonly stray: boolean;
}

/** Words in the keyword index, and whether a live memory said them. */
export const wordEntries = (sql: Sql, after: string, limit: number): Promise<Entry[]> =>
  sql.query<Entry>(
    `select d.memory_id as id, not ${KNOWN("d.memory_id", true)} as stray
     from lex_doc d where ${isFiled("d")} and d.memory_id > $1 order by d.memory_id limit $2`,
    [after, limit],
  );

export async function dropStrayWords(sql: Sql, ids: readonly string[]): Promise<number> {
  const still = await sql.query<{ id: string }>(
    `select u.id from unnest($1::uuid[]) as u (id) where not ${KNOWN("u.id", true)}`,
    [ids],
  );
  await dropLexical(
    sql,
    still.map((row) => row.id),
  );
  return still.length;
}

/** Vectors, and whether their memory exists in any state: what was forgotten may be restored with its vector. */
export const vectorEntries = (sql: Sql, after: string, limit: number): Promise<Entry[]> =>
  sql.query<Entry>(
    `with page as materialized (
       select distinct memory_id as id from embeddings where memory_id > $1 order by memory_id limit $2)
     select p.id, not ${KNOWN("p.id", false)} as stray from page p order by p.id`,
    [after, limit],
  );

/** Returns of how many memories the vectors were deleted. */
export async function dropStrayVectors(sql: Sql, ids: readonly string[]): Promise<number> {
  const gone = await sql.query<{ id: string }>(
    `delete from embeddings e where e.memory_id = any($1::uuid[]) and not ${KNOWN("e.memory_id", false)}
     returning e.memory_id as id`,
    [ids],
  );
  return new Set(gone.map(({ id }) => id)).size;
}

export type LinkKey = Pick<Link, "source_id" | "target_id"> & { readonly relation: string };

export interface CheckedLink extends LinkKey {
  /** `history`: the linked episode was deleted, and an event says so. `dead`: one of the two ends is missing without such an event. */
  readonly state: "whole" | "history" | "dead";
}

const missingEnd = (end: "source" | "target") => `case l.${end}_type
    when 'episode' then not exists (select from episodes m where m.id = l.${end}_id)
    when 'fact' then not exists (select from facts m where m.id = l.${end}_id)
    else not exists (select from rules m where m.id = l.${end}_id) end`;

const untold = (end: "source" | "target") => `(${end}_missing and not exists (
    select from memory_events v where v.entity_id = l.${end}_id and v.event_type = 'episode.deleted'))`;

export const checkLinks = (sql: Sql, after: LinkKey, limit: number): Promise<CheckedLink[]> =>
  sql.query<CheckedLink>(
    `select source_id, target_id, relation,
       case when not source_missing and not target_missing then 'whole'
         when ${untold("source")} or ${untold("target")} then 'dead' else 'history' end as state
     from (
       select l.*, ${missingEnd("source")} as source_missing, ${missingEnd("target")} as target_missing
       from memory_links l where (l.source_id, l.target_id, l.relation) > ($1::uuid, $2::uuid, $3)
       order by l.source_id, l.target_id, l.relation limit $4) as l
     order by source_id, target_id, relation`,
    [after.source_id, after.target_id, after.relation, limit],
  );

export interface ShelfRow {
  readonly sk: number;
  readonly type: MemoryType;
}

export const allShelves = (sql: Sql): Promise<ShelfRow[]> =>
  sql.query<ShelfRow>(`select sk, type from shelves order by sk`);

/** The newest of a shelf: ids are made in the order of time. */
export async function newestOnShelf(
  sql: Sql,
  version: number,
  sk: number,
  now: Date,
  limit: number,
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select memory_id as id from embeddings where version_id = $1 and sk = $2 and ${isVisible("", "$3")}
     order by memory_id desc limit $4`,
    [version, sk, now, limit],
  );
  return rows.map((row) => row.id);
}

export interface Neighbours {
  readonly a: string;
  readonly b: string;
  readonly cosine: number;
}

/** Version and dimensions stand in the text, so that the planner can use the version's index. */
export function nearNeighbours(
  sql: Sql,
  query: { version: number; as: string; sk: number; ids: readonly string[]; now: Date; cosine: number },
): Promise<Neighbours[]> {
  const { version, as } = query;
  const distance = `(o.embedding::${as}) <=> (p.embedding::${as})`;
  return sql.query<Neighbours>(
    `select p.memory_id as a, n.memory_id as b, 1 - n.distance as cosine
     from embeddings p
     cross join lateral (
       select o.memory_id, ${distance} as distance from embeddings o
       where o.version_id = ${version} and o.sk = $1 and ${isVisible("o", "$3")} and o.memory_id <> p.memory_id
       order by ${distance} limit 3) as n
     where p.version_id = ${version} and p.memory_id = any($2::uuid[]) and n.distance <= 1 - $4::float8
     order by 1, 2`,
    [query.sk, query.ids, query.now, query.cosine],
  );
}

export async function textsOf(
  sql: Sql,
  type: MemoryType,
  ids: readonly string[],
  now: Date,
): Promise<Map<string, string>> {
  const { from, text, live } = tableOf(type);
  const rows = await sql.query<{ id: string; text: string }>(
    `select m.id, ${text} as text from ${from} m where ${live} and m.id = any($2::uuid[])`,
    [now, ids],
  );
  return new Map(rows.map((row) => [row.id, row.text]));
}

const OLD_RUNS = `select id from (
    select id, state, row_number() over (partition by job order by started_at desc, id desc) as age from job_runs
    where state <> 'waiting') as r
  where age > $1 and state <> 'running'`;

export async function countOldRuns(sql: Sql, keep: number): Promise<number> {
  const [row] = await sql.query<{ n: number }>(`select count(*)::int4 as n from (${OLD_RUNS}) as old`, [keep]);
  return row?.n ?? 0;
}

export async function dropOldRunsBeyond(sql: Sql, keep: number): Promise<number> {
  const gone = await sql.query(`delete from job_runs where id in (${OLD_RUNS}) returning 1`, [keep]);
  return gone.length;
}
