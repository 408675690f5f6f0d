import type { Sql } from "../../adapters/db/port.ts";
import { mapInTurns } from "../../adapters/turns.ts";
import type { Hit, Postings } from "../../domain/ranking/bm25.ts";
import { blockKey, concat, countHashes, encodeForward } from "../../domain/ranking/postings.ts";
import { lexemes } from "../../domain/text/lexemes.ts";
import { TENANT_OF_SHELF } from "../memories/shelves.ts";

/**
 * The keyword index. A memory's writer adds one narrow forward row in its own transaction and touches no counter, so
 * writers never wait for each other; the fold moves forward rows into posting blocks later. Readers take blocks,
 * unfolded rows and totals in one statement, and so in one snapshot: every answer is exact, folded or not.
 */
export interface LexicalRow {
  readonly memoryId: string;
  readonly sk: number;
  readonly text: string;
}

/** Bytes travel as one value with offsets: arrays of bytea are written differently by each driver. */
export async function putLexical(sql: Sql, rows: readonly LexicalRow[]): Promise<void> {
  if (rows.length === 0) return;
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

/** `words` are the query's lexemes, repetitions included: a word said twice counts twice. */
export async function fetchPostings(sql: Sql, words: readonly string[], sks: readonly number[]): Promise<Postings> {
  const terms = [...countHashes(words)].map(([hash, count]) => ({ hash, count }));
  const shelves = [...new Set(sks)].sort((a, b) => a - b);
  if (terms.length === 0 || shelves.length === 0) return { terms, shelves: [], blocks: [], fresh: [], gone: [] };
  const keys = terms.flatMap((term, i) => shelves.map((sk) => ({ term: i, sk, key: blockKey(sk, term.hash) })));
  const rows = await sql.query<PostingRow>(
    `select ${BLOCKS} as kind, u.o::int4 as a, null::int4 as n, null::float8 as tl, null::int4 as slots,
            string_agg(b.x, ''::bytea) as x
     from unnest($1::int8[]) with ordinality as u (key, o) join lex_block b on b.key = u.key
     group by u.o
     union all
     select ${FRESH} + d.state, d.sk, null, null, null,
            string_agg(case d.state when 0 then uuid_send(d.memory_id) else int4send(d.slot) end
                       || int4send(d.len) || int4send(octet_length(d.x)) || d.x, ''::bytea)
     from lex_doc d where d.sk = any($2::int4[]) and d.state <> 1
     group by d.state, d.sk
     union all
     select ${TOTALS}, s.sk, s.n, s.tl::float8, s.slots, null from shelves s where s.sk = any($2::int4[])`,
    [keys.map((k) => k.key), shelves],
  );
  const of = (kind: number) => rows.filter((row) => row.kind === kind);
  return {
    terms,
    shelves: of(TOTALS).map((row) => ({ sk: row.a, n: row.n ?? 0, tl: row.tl ?? 0, slots: row.slots ?? 0 })),
    blocks: of(BLOCKS).flatMap((row) => {
      const at = keys[row.a - 1];
      return at === undefined || row.x === null ? [] : [{ term: at.term, sk: at.sk, x: row.x }];
    }),
    fresh: of(FRESH).flatMap((row) => forwards(row, 16).map(({ head, len, x }) => ({ id: head, sk: row.a, len, x }))),
    gone: of(GONE).flatMap((row) =>
      forwards(row, 4).map(({ head, len, x }) => ({ slot: bigEndian(head, 0), sk: row.a, len, x })),
    ),
  };
}

const bigEndian = (x: Uint8Array, at: number) => new DataView(x.buffer, x.byteOffset, x.byteLength).getInt32(at);

/** Forward rows as the statement glues them: head, len, size of x, x. */
function forwards(row: PostingRow, headBytes: number): { head: Uint8Array; len: number; x: Uint8Array }[] {
  const all = row.x ?? new Uint8Array(0);
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
