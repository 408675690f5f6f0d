import type { Db, Sql } from "../../adapters/db/port.ts";
import { nextTurn } from "../../adapters/turns.ts";
import { integrity } from "../../domain/errors.ts";
import {
  BLOCK_ENTRIES,
  blockKey,
  concat,
  ENTRY_BYTES,
  type Entry,
  eachForward,
  encodeEntries,
  slimOf,
  withoutSlot,
} from "../../domain/ranking/words/postings.ts";
import { offsets } from "./lexical.ts";
import { type ListChange, noteChanges } from "./long-lists.ts";

/**
 * Moves forward rows into posting blocks, a few at a time: 64 rows keep the embedded store's only connection busy for
 * tens of milliseconds. Leaving it undone costs speed, never correctness.
 *
 *   state 0 ──fold──▶ 1 ──drop──▶ 2 ──fold──▶ (row deleted)
 *      └──drop──▶ (row deleted)
 *
 * The lock on the shelf's row lets one fold of a shelf run at a time. It is NO KEY UPDATE, because writers hold a KEY
 * SHARE on that row through their foreign key. Forward rows that a writer has locked are skipped, so a fold never waits
 * for one and cannot deadlock. Slots are never used twice: a reader may still hold one from its last statement.
 */
interface FoldRow {
  doc: string;
  slot: number | null;
  len: number;
  x: Uint8Array;
}

interface Block {
  readonly key: string;
  readonly b: number;
  x: Uint8Array;
}

/** In bytes: a text of tens of thousands of characters. */
const LONG_ROW = 16_384;

type Blocks = Map<string, Block[]>;

export async function foldShelf(db: Db, sk: number, limit = 64): Promise<{ folded: number; removed: number }> {
  return db.tx(async (sql) => {
    const [shelf] = await sql.query<{ slots: number; tenant_id: string }>(
      "select slots, tenant_id from shelves where sk = $1 for no key update",
      [sk],
    );
    if (shelf === undefined) return { folded: 0, removed: 0 };
    const gone = await takeRows(sql, sk, 2, limit);
    const fresh = await takeRows(sql, sk, 0, limit);
    if (gone.length + fresh.length === 0) return { folded: 0, removed: 0 };

    const leaving = gone.flatMap((row) => keysOf(sk, row).map(({ key }) => ({ key, slot: row.slot ?? -1 })));
    const arriving = new Map<string, Entry[]>();
    for (const [i, row] of fresh.entries()) {
      if (row.x.length > LONG_ROW) await nextTurn();
      for (const { key, tf } of keysOf(sk, row)) {
        const entries = arriving.get(key) ?? [];
        entries.push({ slot: shelf.slots + i, tf, len: row.len });
        arriving.set(key, entries);
      }
    }
    const touched: Blocks = new Map();
    remember(touched, await blocksHolding(sql, leaving));
    remember(touched, await tailBlocks(sql, [...arriving.keys()]));
    for (const { key, slot } of leaving) cut(touched, key, slot);
    await nextTurn();
    for (const [key, entries] of arriving) append(touched, key, entries);
    await nextTurn();

    const long = await noteChanges(sql, shelf.tenant_id, changesOf(leaving, arriving));
    await writeBlocks(sql, shelf.tenant_id, [...touched.values()].flat(), long);
    await sql.query("delete from lex_doc where doc = any($1::int8[])", [gone.map((row) => row.doc)]);
    await sql.query(
      `update lex_doc d set state = 1, slot = u.slot
       from unnest($1::int8[], $2::int4[]) as u (doc, slot) where d.doc = u.doc`,
      [fresh.map((row) => row.doc), fresh.map((_, i) => shelf.slots + i)],
    );
    const lengths = (rows: readonly FoldRow[]) => rows.reduce((sum, row) => sum + row.len, 0);
    await sql.query("update shelves set n = n + $2::int4, tl = tl + $3::int8, slots = slots + $4::int4 where sk = $1", [
      sk,
      fresh.length - gone.length,
      lengths(fresh) - lengths(gone),
      fresh.length,
    ]);
    return { folded: fresh.length, removed: gone.length };
  });
}

/** Without ORDER BY on purpose: the partial index gives the first rows at once, a sort would read the whole backlog. */
const takeRows = (sql: Sql, sk: number, state: 0 | 2, limit: number) =>
  sql.query<FoldRow>(
    `select doc, slot, len, x from lex_doc
     where sk = $1 and state <> 1 and state = $2 limit $3 for update skip locked`,
    [sk, state, limit],
  );

function keysOf(sk: number, row: FoldRow): { key: string; tf: number }[] {
  const keys: { key: string; tf: number }[] = [];
  eachForward(row.x, (hash, tf) => keys.push({ key: blockKey(sk, hash), tf }));
  return keys;
}

/** A block holds the slots from its own b up to the next block's. */
const blocksHolding = (sql: Sql, leaving: readonly { key: string; slot: number }[]) =>
  sql.query<Block>(
    `with held as materialized (
       select u.key, (select k.b from lex_block k where k.key = u.key and k.b <= u.slot order by k.b desc limit 1) as b
       from unnest($1::int8[], $2::int4[]) as u (key, slot))
     select l.key, l.b, l.x from (select distinct key, b from held) as h
     join lex_block l on l.key = h.key and l.b = h.b`,
    [leaving.map((l) => l.key), leaving.map((l) => l.slot)],
  );

/** The last block even when it is full: without it, a half-empty block from the middle would pass for the last one and take slots out of order. */
const tailBlocks = (sql: Sql, keys: readonly string[]) =>
  sql.query<Block>(
    `select u.key, l.b, l.x from unnest($1::int8[]) as u (key)
     cross join lateral (select k.b, k.x from lex_block k where k.key = u.key order by k.b desc limit 1) as l`,
    [keys],
  );

function remember(blocks: Blocks, rows: readonly Block[]): void {
  for (const { key, b, x } of rows) {
    const known = blocks.get(key) ?? [];
    if (!known.some((block) => block.b === b)) known.push({ key, b, x });
    blocks.set(
      key,
      known.sort((p, q) => p.b - q.b),
    );
  }
}

function cut(blocks: Blocks, key: string, slot: number): void {
  const block = blocks.get(key)?.findLast((candidate) => candidate.b <= slot);
  const x = block && withoutSlot(block.x, slot);
  if (block === undefined || x === undefined) throw integrity(`posting ${key} has no entry for slot ${slot}`);
  block.x = x;
}

function changesOf(leaving: readonly { key: string }[], arriving: ReadonlyMap<string, readonly Entry[]>): ListChange[] {
  const removed = new Map<string, number>();
  for (const { key } of leaving) removed.set(key, (removed.get(key) ?? 0) + 1);
  const keys = new Set([...removed.keys(), ...arriving.keys()]);
  return [...keys].map((key) => ({ key, added: arriving.get(key) ?? [], removed: removed.get(key) ?? 0 }));
}

function append(blocks: Blocks, key: string, entries: readonly Entry[]): void {
  const known = blocks.get(key) ?? [];
  blocks.set(key, known);
  let rest = entries;
  while (rest.length > 0) {
    let tail = known.at(-1);
    if (tail === undefined || tail.x.length >= BLOCK_ENTRIES * ENTRY_BYTES) {
      tail = { key, b: (rest[0] as Entry).slot, x: new Uint8Array(0) };
      known.push(tail);
    }
    const room = BLOCK_ENTRIES - tail.x.length / ENTRY_BYTES;
    tail.x = concat([tail.x, encodeEntries(rest.slice(0, room))]);
    rest = rest.slice(room);
  }
}

const NOTHING = new Uint8Array(0);

async function writeBlocks(
  sql: Sql,
  tenant: string,
  blocks: readonly Block[],
  long: ReadonlySet<string>,
): Promise<void> {
  const kept = blocks.filter((block) => block.x.length > 0);
  const slim = kept.map(({ key, b, x }) => (long.has(key) ? slimOf(x, b) : NOTHING));
  const empty = blocks.filter((block) => block.x.length === 0);
  await sql.query(
    `insert into lex_block (key, b, n, x, slim, tenant_id)
     select u.key, u.b, u.n, substring($5::bytea from u.at for u.n * ${ENTRY_BYTES}),
       case when u.size > 0 then substring($8::bytea from u.slim for u.size) end, $9
     from unnest($1::int8[], $2::int4[], $3::int2[], $4::int4[], $6::int4[], $7::int4[]) as u (key, b, n, at, slim, size)
     on conflict (key, b, tenant_id) do update set n = excluded.n, x = excluded.x, slim = excluded.slim`,
    [
      kept.map((block) => block.key),
      kept.map((block) => block.b),
      kept.map((block) => block.x.length / ENTRY_BYTES),
      offsets(kept.map((block) => block.x.length)),
      concat(kept.map((block) => block.x)),
      offsets(slim.map(({ length }) => length)),
      slim.map(({ length }) => length),
      concat(slim),
      tenant,
    ],
  );
  if (empty.length === 0) return;
  await sql.query(
    `delete from lex_block l using unnest($1::int8[], $2::int4[]) as u (key, b) where l.key = u.key and l.b = u.b`,
    [empty.map((block) => block.key), empty.map((block) => block.b)],
  );
}

/** Shelves with enough unfolded rows to be worth it, the longest backlog first. Below a few hundred rows the delta alone is fast. */
export const shelvesToFold = (sql: Sql, threshold = 128) =>
  sql.query<{ sk: number; waiting: number }>(
    `select sk, count(*)::int4 as waiting from lex_doc where state <> 1
     group by sk having count(*) >= $1::int4 order by waiting desc, sk`,
    [threshold],
  );
