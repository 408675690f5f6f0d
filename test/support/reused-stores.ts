/**
 * Stores that tests use one after the other, over the files that share modules too; they end with the process. A copy of a migrated store
 * costs 0.8 s of CPU time embedded and 0.3 s on a server, emptying one a few hundredths of a second. A store whose schema a test has
 * changed, or that it has closed or broken, is not used again.
 */
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import { unavailable } from "../../src/engine/domain/errors.ts";
import { closeWithFile } from "./file-end.ts";

export interface OpenedStore {
  readonly db: Db;
  drop(): Promise<unknown>;
}

interface Kept extends OpenedStore {
  /** As it was when the store was new. */
  readonly schema: string;
  /** Tables that a migrated store has rows in, and what they say. */
  readonly filled: ReadonlyMap<string, string>;
}

/**
 * Everything but the tables' files, sizes and statistics, which emptying changes. A row of a catalogue that was written anew has another xmin,
 * even if it says the same again.
 */
const SCHEMA = `select md5(concat(
  (select string_agg(concat(oid, relname, relkind, relowner, relacl, relrowsecurity, relforcerowsecurity, reloptions), ',' order by oid) from pg_class),
  (select string_agg(concat(oid, xmin), ',' order by oid) from pg_namespace),
  (select string_agg(concat(oid, xmin), ',' order by oid) from pg_proc),
  (select string_agg(concat(oid, xmin), ',' order by oid) from pg_trigger),
  (select string_agg(concat(oid, xmin), ',' order by oid) from pg_policy),
  (select string_agg(concat(oid, xmin), ',' order by oid) from pg_constraint),
  (select string_agg(concat(attrelid, attnum, xmin), ',' order by attrelid, attnum) from pg_attribute),
  (select string_agg(concat(oid, rolname, rolsuper, rolbypassrls), ',' order by oid) from pg_roles where pg_has_role(oid, 'member')),
  (select string_agg(concat(setdatabase, setrole, setconfig), ',' order by setdatabase, setrole) from pg_db_role_setting)
)) as digest`;

const TABLES = `select format('%I.%I', schemaname, tablename) as name from pg_tables
  where schemaname not in ('pg_catalog', 'information_schema') order by 1`;

/** Of each kind. A test that had several open at once leaves no more of them to the files after it: each takes 200 MB. */
const KEPT_OVER_FILES = 1;

const free = new Map<string, Kept[]>();

/** Opens a store, or takes one that an earlier test has given back; `drop` gives it back. A closed one answers no more to whoever has closed it. */
export async function takeStore(kind: string, open: () => Promise<OpenedStore>): Promise<OpenedStore> {
  const waiting = free.get(kind) ?? [];
  free.set(kind, waiting);
  const kept = waiting.pop() ?? (await describeStore(await open()));
  return {
    db: lent(kept.db),
    drop: async () => {
      if (!(await emptied(kept))) return end(kept);
      waiting.push(kept);
      if (waiting.length > KEPT_OVER_FILES) closeWithFile(() => endAll(waiting.splice(KEPT_OVER_FILES)));
    },
  };
}

function lent(db: Db): Db {
  let closed = false;
  const open = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closed) throw unavailable("The store is closed.");
    return work();
  };
  return wrapDb(db, (inner) => ({
    query: (text, params) => open(() => inner.query(text, params)),
    tx: (work) => open(() => inner.tx(work)),
    exec: (script) => open(() => inner.exec(script)),
    close: async () => {
      closed = true;
    },
  }));
}

async function endAll(stores: readonly Kept[]): Promise<void> {
  for (const store of stores) await end(store);
}

async function end({ db, drop }: OpenedStore): Promise<void> {
  await db.close();
  await drop();
}

async function describeStore(opened: OpenedStore): Promise<Kept> {
  const filled = new Map<string, string>();
  for (const name of await tablesOf(opened.db)) {
    const rows = await rowsOf(opened.db, name);
    if (rows !== "") filled.set(name, rows);
  }
  return { ...opened, schema: await schemaOf(opened.db), filled };
}

/** False when the store is not again what it was when it was new. */
async function emptied({ db, schema, filled }: Kept): Promise<boolean> {
  if (db.isDead?.()) return false;
  try {
    if ((await schemaOf(db)) !== schema) return false;
    for (const [name, rows] of filled) if ((await rowsOf(db, name)) !== rows) return false;
    const tables = (await tablesOf(db)).filter((name) => !filled.has(name));
    await db.tx(async (sql) => {
      // Triggers keep events from being deleted.
      await sql.query("set local session_replication_role = replica");
      await sql.query(`truncate ${tables.join(", ")} restart identity`);
      await sql.query("delete from pg_statistic where starelid >= 16384");
    });
    return true;
  } catch {
    return false;
  }
}

const tablesOf = async (db: Db) => (await db.query<{ name: string }>(TABLES)).map(({ name }) => name);

async function schemaOf(db: Db): Promise<string> {
  const [row] = await db.query<{ digest: string }>(SCHEMA);
  return row?.digest ?? "";
}

async function rowsOf(db: Db, table: string): Promise<string> {
  const [row] = await db.query<{ rows: string }>(
    `select coalesce(string_agg(t::text, ',' order by t::text), '') as rows from ${table} t`,
  );
  return row?.rows ?? "";
}
