/**
 * Makes a table of the target equal to that of the source, or finds out whether it is. What is there already is compared and not copied
 * again, so a move that was killed goes on where it stopped without a note of its own.
 */
import type { Db, Sql } from "../../adapters/db/port.ts";
import {
  dropAll,
  dropKeys,
  isKeyed,
  type KeyDigest,
  keyDigests,
  openRows,
  putRows,
  rowTexts,
} from "../../store/move/rows.ts";
import type { MovedTable } from "../../store/move/tables.ts";

const KEY_PAGE = 2000;
/** Limits what is held in memory: at worst 200 episodes of 100,000 characters. */
const ROW_PAGE = 200;

export interface Ends {
  readonly source: Db;
  readonly target: Db;
}

export interface Synced {
  /** Rows of the source that were looked at. */
  rows: number;
  copied: number;
  /** The keys of rows that are not the same on both sides; with `copy` those that were replaced. */
  readonly differing: string[];
}

type Tell = (rows: number) => void;

export function syncTable(ends: Ends, table: MovedTable, copy: boolean, tell: Tell): Promise<Synced> {
  return isKeyed(table) ? syncKeyed(ends, table, copy, tell) : syncWhole(ends, table, copy, tell);
}

type Keyed = Parameters<typeof rowTexts>[1];

async function syncKeyed({ source, target }: Ends, table: Keyed, copy: boolean, tell: Tell): Promise<Synced> {
  const so: Synced = { rows: 0, copied: 0, differing: [] };
  for (let after: string | undefined; ; ) {
    const wanted = await keyDigests(source, table, after, undefined, KEY_PAGE);
    const until = wanted.length === KEY_PAGE ? wanted.at(-1)?.key : undefined;
    const there = await keyDigests(target, table, after, until, undefined);
    const { missing, extra } = compareKeys(wanted, there);
    so.differing.push(...missing, ...extra);
    if (copy) {
      if (extra.length > 0) await target.tx((sql) => dropKeys(sql, table, extra));
      so.copied += await copyKeys({ source, target }, table, missing, there);
    }
    so.rows += wanted.reduce((sum, { rows }) => sum + rows, 0);
    tell(so.rows);
    if (until === undefined) return so;
    after = until;
  }
}

function compareKeys(wanted: readonly KeyDigest[], there: readonly KeyDigest[]) {
  const found = new Map(there.map(({ key, digest }) => [key, digest]));
  const missing = wanted.filter(({ key, digest }) => found.get(key) !== digest).map(({ key }) => key);
  const known = new Set(wanted.map(({ key }) => key));
  return { missing, extra: there.map(({ key }) => key).filter((key) => !known.has(key)) };
}

async function copyKeys(ends: Ends, table: Keyed, keys: readonly string[], there: readonly KeyDigest[]) {
  const stale = new Set(there.map(({ key }) => key));
  let copied = 0;
  for (let at = 0; at < keys.length; at += ROW_PAGE) {
    const page = keys.slice(at, at + ROW_PAGE);
    const rows = await rowTexts(ends.source, table, page);
    const replaced = page.filter((key) => stale.has(key));
    await ends.target.tx(async (sql) => {
      if (replaced.length > 0) await dropKeys(sql, table, replaced);
      await putRows(sql, table, rows);
    });
    copied += page.length;
  }
  return copied;
}

/** A table without such a key is compared in the order of its rows' texts, and copied as a whole in one transaction. */
async function syncWhole(ends: Ends, table: MovedTable, copy: boolean, tell: Tell): Promise<Synced> {
  const so = await compareWhole(ends, table);
  if (copy && so.differing.length > 0)
    await ends.source.tx((from) =>
      ends.target.tx(async (into) => {
        await dropAll(into, table);
        const rows = await openRows(from, table);
        for (let page = await rows.next(KEY_PAGE); page.length > 0; page = await rows.next(KEY_PAGE)) {
          await putRows(into, table, page);
          so.copied += page.length;
        }
      }),
    );
  tell(so.rows);
  return so;
}

async function compareWhole({ source, target }: Ends, table: MovedTable): Promise<Synced> {
  const so: Synced = { rows: 0, copied: 0, differing: [] };
  const compare = async (from: Sql, into: Sql) => {
    const [wanted, there] = [await openRows(from, table), await openRows(into, table)];
    for (;;) {
      const [a, b] = [await wanted.next(KEY_PAGE), await there.next(KEY_PAGE)];
      so.rows += a.length;
      const at = Array.from({ length: Math.max(a.length, b.length) }).findIndex((_, i) => a[i] !== b[i]);
      // One is enough: the rows after it are no longer side by side.
      if (at >= 0 && so.differing.length === 0) so.differing.push(a[at] ?? b[at] ?? "");
      if (a.length < KEY_PAGE && b.length < KEY_PAGE) return;
    }
  };
  await source.tx((from) => target.tx((into) => compare(from, into)));
  return so;
}
