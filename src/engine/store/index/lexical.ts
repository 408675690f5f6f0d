import { PLAN_KEPT, type Sql } from "../../adapters/db/port.ts";
import { mapInTurns } from "../../adapters/turns.ts";
import type { ForwardRow, Place } from "../../domain/ranking/words/best-first.ts";
import type { Hit, Postings } from "../../domain/ranking/words/bm25.ts";
import { LEAST_BYTES } from "../../domain/ranking/words/bounds.ts";
import { blockKey, concat, countHashes, encodeForward } from "../../domain/ranking/words/postings.ts";
import { lexemes } from "../../domain/text/lexemes.ts";
import { TENANT_OF_SHELF } from "../memories/shelves.ts";

/**
 * The keyword index. A memory's writer adds one narrow forward row in its own transaction and touches no counter, so
 * writers never wait for each other; the fold moves forward rows into posting blocks later. Readers take blocks,
 * unfolded rows and totals in one statement, and so in one snapshot: every answer is exact, folded or not. The longest lists are left
 * unread at first, with their bounds in their place.
 */
export interface LexicalRow {
  readonly memoryId: string;
  readonly sk: number;
  readonly text: string;
}

/** The number of its lexemes, and its forward row. */
export type Filed = ReturnType<typeof encodeForward>;

/** Bytes travel as one value with offsets: arrays of bytea are written differently by each driver. The answer is what was filed of each. */
export async function putLexical(sql: Sql, rows: readonly LexicalRow[]): Promise<Filed[]> {
  if (rows.length === 0) return [];
  const forwards = await mapInTurns(
    rows,
    ({ text }) => text.length,
    ({ text }) => encodeForward(lexemes(text)),
  );
  await sql.query(
    `insert into lex_doc (memory_id, sk, len, x, tenant_id)
     select u.memory_id, u.sk, u.len, substring($6::bytea from u.at for u.size), ${TENANT_OF_SHELF("u.sk")}
     from unnest($1::uuid[], $2::int4[], $3::int4[], $4::int4[], $5::int4[]) as u (memory_id, sk, len, at, size)`,
    [
      rows.map((row) => row.memoryId),
      rows.map((row) => row.sk),
      forwards.map((forward) => forward.len),
      offsets(forwards.map((forward) => forward.x.length)),
      forwards.map((forward) => forward.x.length),
      concat(forwards.map((forward) => forward.x)),
    ],
  );
  return forwards;
}

/** Where each part begins in the concatenation, counted from 1 as SQL does. */
export function offsets(sizes: readonly number[]): number[] {
  let at = 1;
  return sizes.map((size) => {
    const start = at;
    at += size;
    return start;
  });
}

/**
 * Also the first half of a change of text or shelf: drop, then put. Inside a READ COMMITTED transaction and in this
 * order: while the first statement waits for a fold, that fold may turn state 0 into 1, and the second must see it.
 */
export async function dropLexical(sql: Sql, memoryIds: readonly string[]): Promise<void> {
  if (memoryIds.length === 0) return;
  await sql.query("delete from lex_doc where memory_id = any($1::uuid[]) and state = 0", [memoryIds]);
  await sql.query("update lex_doc set state = 2 where memory_id = any($1::uuid[]) and state = 1", [memoryIds]);
}

interface PostingRow {
  kind: number;
  a: number;
  n: number | null;
  tl: number | null;
  slots: number | null;
  x: Uint8Array | null;
}

const BLOCKS = 0;
const FRESH = 1;
const GONE = 3;
const TOTALS = 4;
const UNREAD = 5;

/** Of which lists a search reads slots and tfs alone at first: engine/domain/ranking/words/bounds.ts. */
export interface Leaving {
  /** The most frequent words, as long as they have no more than this share of the weight of the question. */
  readonly share: number;
  /** Only words that at least so many memories have. */
  readonly from: number;
}

/** What a word counts as that has no list in `lex_long`: it has 16 blocks at most. */
const SHORT = 4096;
/** With a share of 0.35 one in fifty questions over a million memories had to read everything after all, with 0.3 none in a hundred. */
export const LEAVING: Leaving = { share: 0.3, from: 20_000 };
export const LEAVE_NOTHING: Leaving = { share: 0, from: 0 };

/** In the order of their frequency, as far as their weights add up to a share of all. */
const LEFT = `left_out as materialized (
    select term from (
      select term, df, sum(w) over (order by df desc, term) as so_far, sum(w) over () as whole from (
        select term, df, count * ln(1 + (greatest(n - df, 0) + 0.5) / (df + 0.5)) as w from (
          select a.term, a.count, s.n, greatest(sum(coalesce(a.df, 0))::float8, least(s.n, ${SHORT})) as df
          from asked a cross join (select coalesce(sum(n), 0)::float8 as n from shelves where sk = any($2::int4[])) as s
          group by a.term, a.count, s.n) as counted) as weighed) as ordered
    where df >= $6::float8 and so_far <= $5::float8 * whole)`;

/** `words` are the query's lexemes, repetitions included: a word said twice counts twice. */
export async function fetchPostings(
  sql: Sql,
  words: readonly string[],
  sks: readonly number[],
  leaving: Leaving = LEAVE_NOTHING,
): Promise<Postings> {
  const terms = [...countHashes(words)].map(([hash, count]) => ({ hash, count }));
  const shelves = [...new Set(sks)].sort((a, b) => a - b);
  if (terms.length === 0 || shelves.length === 0)
    return { terms, shelves: [], blocks: [], unread: [], fresh: [], gone: [] };
  const keys = terms.flatMap((term, i) => shelves.map((sk) => ({ term: i, sk, key: blockKey(sk, term.hash) })));
  const rows = await sql.query<PostingRow>(
    `with asked as materialized (
       select u.key, u.o::int4 as o, u.term, u.count, l.df, l.least
       from unnest($1::int8[], $3::int4[], $4::int4[]) with ordinality as u (key, term, count, o)
       left join lex_long l on l.key = u.key),
     ${LEFT}
     select ${BLOCKS} as kind, a.o as a, null::int4 as n, null::float8 as tl, null::int4 as slots, b.x
     from asked a
     cross join lateral (select string_agg(x, ''::bytea) as x from lex_block where key = a.key) as b
     where (a.df is null or a.term not in (select term from left_out)) and b.x is not null
     union all
     select ${FRESH} + d.state, d.sk, null, null, null,
            string_agg(case d.state when 0 then uuid_send(d.memory_id) else int4send(d.slot) end
                       || int4send(d.len) || int4send(octet_length(d.x)) || d.x, ''::bytea)
     from lex_doc d where d.sk = any($2::int4[]) and d.state <> 1
     group by d.state, d.sk
     union all
     select ${TOTALS}, s.sk, s.n, s.tl::float8, s.slots, null from shelves s where s.sk = any($2::int4[])
     union all
     select ${UNREAD}, a.o, a.df, null, null, a.least || b.slim
     from asked a join left_out using (term)
     cross join lateral (
       select string_agg(int4send(b) || int4send(octet_length(slim)) || slim, ''::bytea) as slim from lex_block
       where key = a.key) as b
     where a.df is not null and b.slim is not null ${PLAN_KEPT}`,
    [
      keys.map((k) => k.key),
      shelves,
      keys.map((k) => k.term),
      keys.map((k) => terms[k.term]?.count ?? 1),
      leaving.share,
      leaving.from,
    ],
  );
  const of = (kind: number) => rows.filter((row) => row.kind === kind);
  const lists = (kind: number) =>
    of(kind).flatMap(({ a, n, x }) => {
      const at = keys[a - 1];
      return at === undefined || x === null ? [] : [{ term: at.term, sk: at.sk, n: n ?? 0, x }];
    });
  return {
    terms,
    shelves: of(TOTALS).map((row) => ({ sk: row.a, n: row.n ?? 0, tl: row.tl ?? 0, slots: row.slots ?? 0 })),
    blocks: lists(BLOCKS).map(({ term, sk, x }) => ({ term, sk, x })),
    unread: lists(UNREAD).map(({ term, sk, n, x }) => ({
      ...{ term, sk, df: n },
      ...{ least: x.subarray(0, LEAST_BYTES), slim: x.subarray(LEAST_BYTES) },
    })),
    fresh: of(FRESH).flatMap((row) => forwards(row.x, 16).map(({ head, len, x }) => ({ id: head, sk: row.a, len, x }))),
    gone: of(GONE).flatMap((row) =>
      forwards(row.x, 4).map(({ head, len, x }) => ({ slot: bigEndian(head, 0), sk: row.a, len, x })),
    ),
  };
}

/** The forward rows of folded memories; one that was removed meanwhile is missing. */
export async function forwardRows(sql: Sql, places: readonly Place[]): Promise<ForwardRow[]> {
  if (places.length === 0) return [];
  const [row] = await sql.query<{ x: Uint8Array | null }>(
    `select string_agg(int4send(d.sk) || int4send(d.slot) || int4send(d.len) || int4send(octet_length(d.x)) || d.x,
              ''::bytea) as x
     from unnest($1::int4[], $2::int4[]) as u (sk, slot)
     join lex_doc d on d.sk = u.sk and d.slot = u.slot and d.state = 1`,
    [places.map(({ sk }) => sk), places.map(({ slot }) => slot)],
  );
  return forwards(row?.x ?? null, 8).map(({ head, len, x }) => ({
    sk: bigEndian(head, 0),
    slot: bigEndian(head, 4),
    len,
    x,
  }));
}

const bigEndian = (x: Uint8Array, at: number) => new DataView(x.buffer, x.byteOffset, x.byteLength).getInt32(at);

/** Forward rows as the statement glues them: head, len, size of x, x. */
function forwards(glued: Uint8Array | null, headBytes: number): { head: Uint8Array; len: number; x: Uint8Array }[] {
  const all = glued ?? new Uint8Array(0);
  const found = [];
  let at = 0;
  while (at < all.length) {
    const from = at + headBytes + 8;
    const to = from + bigEndian(all, at + headBytes + 4);
    found.push({
      head: all.subarray(at, at + headBytes),
      len: bigEndian(all, at + headBytes),
      x: all.subarray(from, to),
    });
    at = to;
  }
  return found;
}

/** Five parameters for `hitsSql`: shelf, slot and score of folded hits; memory id and score of the others. */
export function hitParams(hits: readonly Hit[]): [number[], number[], number[], string[], number[]] {
  const params: [number[], number[], number[], string[], number[]] = [[], [], [], [], []];
  for (const hit of hits) {
    if ("slot" in hit) {
      params[0].push(hit.sk);
      params[1].push(hit.slot);
      params[2].push(hit.score);
    } else {
      params[3].push(hit.memoryId);
      params[4].push(hit.score);
    }
  }
  return params;
}

/**
 * A select of (memory_id uuid, score float8) over `hitParams` starting at parameter `$first`, to stand in a FROM or WITH.
 * A hit that was removed since its postings were read has no state-1 row and drops out. Order by score desc, memory_id.
 */
export const hitsSql = (first: number): string =>
  `select d.memory_id, h.score
   from unnest($${first}::int4[], $${first + 1}::int4[], $${first + 2}::float8[]) as h (sk, slot, score)
   join lex_doc d on d.sk = h.sk and d.slot = h.slot and d.state = 1
   union all
   select f.memory_id, f.score from unnest($${first + 3}::uuid[], $${first + 4}::float8[]) as f (memory_id, score)`;

export async function resolveHits(sql: Sql, hits: readonly Hit[]): Promise<{ memoryId: string; score: number }[]> {
  const rows = await sql.query<{ memory_id: string; score: number }>(
    `select memory_id, score from (${hitsSql(1)}) as hits order by score desc, memory_id`,
    hitParams(hits),
  );
  return rows.map((row) => ({ memoryId: row.memory_id, score: row.score }));
}
