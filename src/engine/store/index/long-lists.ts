/**
 * Lists that are too long to be read whole (`lex_long`): how many memories have the word, what bounds its weight, and the slim form of its
 * blocks. Maintenance adds a list, each fold keeps it right under the lock of its shelf. A list that is missing here is read whole: that
 * costs speed, never correctness.
 */
import type { Db, Sql } from "../../adapters/db/port.ts";
import { decodeLengths, encodeLengths, LEAST_BYTES, noLengths, noteLength } from "../../domain/ranking/words/bounds.ts";
import { concat, ENTRY_BYTES, type Entry, eachEntry, slimOf } from "../../domain/ranking/words/postings.ts";
import { offsets } from "./lexical.ts";

const LONG_BLOCKS = 16;

export interface ListChange {
  readonly key: string;
  readonly added: readonly Entry[];
  readonly removed: number;
}

/** Inside of a fold. Gives back which of the lists are long. */
export async function noteChanges(
  sql: Sql,
  tenant: string,
  changes: readonly ListChange[],
): Promise<ReadonlySet<string>> {
  const held = await sql.query<{ key: string; df: number; least: Uint8Array }>(
    "select key, df, least from lex_long where key = any($1::int8[])",
    [changes.map(({ key }) => key)],
  );
  if (held.length === 0) return new Set();
  const byKey = new Map(changes.map((change) => [change.key, change]));
  const rows = held.map(({ key, df, least }) => {
    const { added = [], removed = 0 } = byKey.get(key) ?? {};
    const shortest = decodeLengths(least);
    for (const { tf, len } of added) noteLength(shortest, tf, len);
    return { key, df: df + added.length - removed, least: encodeLengths(shortest) };
  });
  await writeLists(sql, tenant, rows);
  return new Set(rows.map(({ key }) => key));
}

async function writeLists(
  sql: Sql,
  tenant: string,
  rows: readonly { readonly key: string; readonly df: number; readonly least: Uint8Array }[],
): Promise<void> {
  await sql.query(
    `insert into lex_long (key, df, least, tenant_id)
     select u.key, u.df, substring($3::bytea from 1 + ${LEAST_BYTES} * (u.o::int4 - 1) for ${LEAST_BYTES}), $4
     from unnest($1::int8[], $2::int4[]) with ordinality as u (key, df, o)
     on conflict (key, tenant_id) do update set df = excluded.df, least = excluded.least`,
    [rows.map(({ key }) => key), rows.map(({ df }) => df), concat(rows.map(({ least }) => least)), tenant],
  );
}

/** Lists of at least so many blocks that are not known yet. Gives back how many were added. */
export async function addLongLists(db: Db, blocks = LONG_BLOCKS, stop: () => boolean = () => false): Promise<number> {
  const keys = await db.query<{ key: string; sk: number }>(
    `select key, (key >> 40)::int4 as sk from lex_block b where not exists (select from lex_long l where l.key = b.key)
     group by key having count(*) >= $1::int4 order by key`,
    [blocks],
  );
  let added = 0;
  for (const { key, sk } of keys) {
    if (stop()) break;
    await db.tx((sql) => addList(sql, key, sk));
    added++;
  }
  return added;
}

async function addList(sql: Sql, key: string, sk: number): Promise<void> {
  const [shelf] = await sql.query<{ tenant_id: string }>(
    "select tenant_id from shelves where sk = $1 for no key update",
    [sk],
  );
  if (shelf === undefined) return;
  const blocks = await sql.query<{ b: number; x: Uint8Array }>("select b, x from lex_block where key = $1", [key]);
  const least = noLengths();
  for (const { x } of blocks) eachEntry(x, (_, tf, len) => noteLength(least, tf, len));
  const df = blocks.reduce((sum, { x }) => sum + x.length / ENTRY_BYTES, 0);
  await writeLists(sql, shelf.tenant_id, [{ key, df, least: encodeLengths(least) }]);
  const slim = blocks.map(({ x, b }) => slimOf(x, b));
  await sql.query(
    `update lex_block l set slim = substring($4::bytea from u.at for u.size)
     from unnest($2::int4[], $3::int4[], $5::int4[]) as u (b, at, size) where l.key = $1 and l.b = u.b`,
    [
      key,
      blocks.map(({ b }) => b),
      offsets(slim.map(({ length }) => length)),
      concat(slim),
      slim.map(({ length }) => length),
    ],
  );
}
