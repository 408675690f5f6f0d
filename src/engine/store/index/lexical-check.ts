import type { Db, Sql } from "../../adapters/db/port.ts";
import { decodeLengths, isBounded } from "../../domain/ranking/words/bounds.ts";
import {
  BLOCK_ENTRIES,
  blockKey,
  ENTRY_BYTES,
  eachEntry,
  eachForward,
  FORWARD_BYTES,
  slimOf,
} from "../../domain/ranking/words/postings.ts";

/** Rows read at a time, so that a large shelf does not have to fit into memory. */
const PAGE = 2000;

/**
 * What forward rows, blocks and shelf counters say differently, in words; empty when all is well. Reads everything in one
 * REPEATABLE READ transaction, so it may run beside writers and folders.
 */
export async function verifyLexical(db: Db): Promise<string[]> {
  return db.tx(async (sql) => {
    await sql.query("set transaction isolation level repeatable read, read only");
    const found = await checkCounters(sql);
    const shelves = await sql.query<{ sk: number }>("select sk from shelves order by sk");
    for (const { sk } of shelves) found.push(...(await checkShelf(sql, sk)));
    for (const stray of await strayBlocks(sql))
      found.push(`${stray.blocks} blocks belong to shelf ${stray.sk}, which does not exist`);
    return found;
  });
}

/** The same for one shelf: a shorter transaction, which keeps the only connection of an embedded store busy for less time. */
export async function verifyShelf(db: Db, sk: number): Promise<string[]> {
  return db.tx(async (sql) => {
    await sql.query("set transaction isolation level repeatable read, read only");
    return [...(await checkCounters(sql, sk)), ...(await checkShelf(sql, sk))];
  });
}

/** Blocks of shelves that do not exist. */
export const strayBlocks = (sql: Sql) =>
  sql.query<{ sk: string; blocks: number }>(
    `select key >> 40 as sk, count(*)::int4 as blocks from lex_block b
     where not exists (select from shelves s where s.sk = b.key >> 40) group by 1 order by 1`,
  );

export async function dropStrayBlocks(sql: Sql): Promise<number> {
  const gone = await sql.query(
    `delete from lex_block b where not exists (select from shelves s where s.sk = b.key >> 40) returning 1`,
  );
  return gone.length;
}

/** Forward rows that cannot be read, on one shelf or on all: only their memories' texts can make them anew. */
const BROKEN = `(state = 0) <> (slot is null) or octet_length(x) % ${FORWARD_BYTES} <> 0`;

/** Deletes such rows; their memories are then missing from the index, and the shelf has to be unfolded before the next fold. */
export async function dropBrokenRows(sql: Sql, sk: number): Promise<number> {
  const gone = await sql.query(`delete from lex_doc where sk = $1 and (${BROKEN}) returning 1`, [sk]);
  return gone.length;
}

async function checkCounters(sql: Sql, only?: number): Promise<string[]> {
  const rows = await sql.query<{ sk: number; wrong: string }>(
    `select s.sk, w.wrong from shelves s
     cross join lateral (
       select count(*) as n, coalesce(sum(d.len), 0) as tl, max(d.slot) as top, count(distinct d.slot) as slots
       from lex_doc d where d.sk = s.sk and d.state <> 0) as f
     cross join lateral (values
       (case when s.n <> f.n then format('n is %s, forward rows say %s', s.n, f.n) end),
       (case when s.tl <> f.tl then format('tl is %s, forward rows say %s', s.tl, f.tl) end),
       (case when s.slots <= f.top then format('slots is %s, slot %s is taken', s.slots, f.top) end),
       (case when f.slots <> f.n then format('%s folded rows have %s slots', f.n, f.slots) end)) as w (wrong)
     where w.wrong is not null and ($1::int4 is null or s.sk = $1) order by s.sk, w.wrong`,
    [only ?? null],
  );
  const forward = await sql.query<{ doc: string }>(
    `select doc from lex_doc where (${BROKEN}) and ($1::int4 is null or sk = $1) order by doc`,
    [only ?? null],
  );
  return [
    ...rows.map((row) => `shelf ${row.sk}: ${row.wrong}`),
    ...forward.map((row) => `forward row ${row.doc}: its slot does not fit its state, or its bytes are cut`),
  ];
}

/** Entries of one key as a count and a sum of hashes: independent of order, and small enough to keep for every key. */
interface Digest {
  n: number;
  sum: number;
}

function note(digests: Map<string, Digest>, key: string, slot: number, tf: number, len: number): void {
  const digest = digests.get(key) ?? { n: 0, sum: 0 };
  digest.n++;
  let h = Math.imul(slot ^ 0x2545f491, 0x9e3779b1) ^ Math.imul((tf << 16) | len, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35);
  digest.sum = (digest.sum + (h ^ (h >>> 13))) | 0;
  digests.set(key, digest);
}

async function checkShelf(sql: Sql, sk: number): Promise<string[]> {
  const found: string[] = [];
  const wanted = new Map<string, Digest>();
  for (let after = "0"; ; ) {
    const rows = await sql.query<{ doc: string; slot: number | null; len: number; x: Uint8Array }>(
      "select doc, slot, len, x from lex_doc where sk = $1 and state <> 0 and doc > $2::int8 order by doc limit $3",
      [sk, after, PAGE],
    );
    for (const row of rows) {
      eachForward(row.x, (hash, tf) => note(wanted, blockKey(sk, hash), row.slot ?? -1, tf, row.len));
    }
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.doc;
  }

  const held = new Map<string, Digest>();
  const long = await longLists(sql, sk);
  let at = { key: blockKey(sk, 0), b: -1, last: -1 };
  for (;;) {
    const rows = await sql.query<{ key: string; b: number; n: number; x: Uint8Array; slim: Uint8Array | null }>(
      `select key, b, n, x, slim from lex_block
       where key <= $4::int8 and (key, b) > ($1::int8, $2::int4) order by key, b limit $3`,
      [at.key, at.b, PAGE, blockKey(sk, 2 ** 40 - 1)],
    );
    for (const row of rows) {
      let last = row.key === at.key ? at.last : -1;
      let ordered = row.b > last;
      eachEntry(row.x, (slot, tf, len) => {
        ordered &&= slot > last && slot >= row.b;
        last = slot;
        note(held, row.key, slot, tf, len);
        const list = long.get(row.key);
        if (list !== undefined && !isBounded(list.least, tf, len)) list.tooNarrow = true;
      });
      if (!ordered) found.push(`block ${row.key}/${row.b}: its slots are out of order`);
      const slim = long.has(row.key) || row.slim !== null ? slimOf(row.x, row.b) : undefined;
      if (slim !== undefined && !sameBytes(row.slim ?? NOTHING, slim))
        found.push(`block ${row.key}/${row.b}: its slim form is not that of its entries`);
      if (row.n * ENTRY_BYTES !== row.x.length || row.n < 1 || row.n > BLOCK_ENTRIES)
        found.push(`block ${row.key}/${row.b}: n is ${row.n}, it has ${row.x.length} bytes`);
      at = { key: row.key, b: row.b, last };
    }
    if (rows.length === 0) break;
  }
  for (const key of new Set([...wanted.keys(), ...held.keys()])) {
    const want = wanted.get(key);
    const have = held.get(key);
    if (want?.n === have?.n && want?.sum === have?.sum) continue;
    found.push(`posting ${key}: blocks hold ${have?.n ?? 0} entries, forward rows ask for ${want?.n ?? 0}`);
  }
  for (const [key, { df, tooNarrow }] of long)
    if (tooNarrow || df !== (held.get(key)?.n ?? 0))
      found.push(
        `long list ${key}: df is ${df} and blocks hold ${held.get(key)?.n ?? 0} entries${tooNarrow ? ", shorter memories have the word" : ""}`,
      );
  return found;
}

const NOTHING = new Uint8Array(0);
const sameBytes = (a: Uint8Array, b: Uint8Array) => a.length === b.length && a.every((byte, i) => byte === b[i]);

/** What searches believe of lists that they leave unread. */
async function longLists(sql: Sql, sk: number) {
  const rows = await sql.query<{ key: string; df: number; least: Uint8Array }>(
    "select key, df, least from lex_long where key between $1::int8 and $2::int8",
    [blockKey(sk, 0), blockKey(sk, 2 ** 40 - 1)],
  );
  return new Map(rows.map(({ key, df, least }) => [key, { df, least: decodeLengths(least), tooNarrow: false }]));
}

/**
 * Throws a shelf's blocks away and makes its rows wait for the fold again; searches stay exact all the while. The table
 * lock keeps out a writer that has looked for state 0 and is about to look for state 1. Slot numbers go on from where
 * they were, since a reader may still hold old ones.
 */
export async function unfoldShelf(db: Db, sk: number): Promise<void> {
  await db.tx(async (sql) => {
    await sql.query("select from shelves where sk = $1 for no key update", [sk]);
    await sql.query("lock table lex_doc in share row exclusive mode");
    for (const table of ["lex_block", "lex_long"])
      await sql.query(`delete from ${table} where key between $1::int8 and $2::int8`, [
        blockKey(sk, 0),
        blockKey(sk, 2 ** 40 - 1),
      ]);
    await sql.query("delete from lex_doc where sk = $1 and state = 2", [sk]);
    await sql.query("update lex_doc set state = 0, slot = null where sk = $1 and state = 1", [sk]);
    await sql.query("update shelves set n = 0, tl = 0 where sk = $1", [sk]);
  });
}
