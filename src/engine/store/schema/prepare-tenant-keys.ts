/**
 * The long part of `mem_0017`, for a server whose tables may have millions of rows: done before the migration, outside of its transaction
 * and beside other daemons. Every step looks whether it is done already, so one that was interrupted goes on, and two daemons that start
 * at once do no harm to each other.
 */
import type { Db, Sql } from "../../adapters/db/port.ts";
import {
  addReference,
  addTenant,
  createKey,
  fillTenant,
  HAS_TENANT,
  hasTenantName,
  madeAs,
  referenceMadeAs,
  SHELVED,
  TENANT_KEYS,
  TENANT_REFERENCES,
  type TenantKey,
} from "../migrations/mem_0017_tenant_keys.ts";
import { lockMigrations } from "./kysely.ts";
import { MIGRATION_TABLES } from "./names.ts";

const BATCH = 5000;

export async function prepareTenantKeys(given: Db): Promise<void> {
  // An index that is built beside writers waits for transactions that are under way, however long they take.
  const db = given.withSettings({ lock_timeout: "0" });
  for (const table of Object.keys(SHELVED)) {
    if (!(await alone(given, [addTenant(table), ...fillTenant(table)]))) return;
    await putRight(given, table);
    const rule = hasTenantName(table);
    const added = [
      `alter table ${table} drop constraint if exists ${rule}`,
      `alter table ${table} add constraint ${rule} check (${HAS_TENANT}) not valid`,
    ];
    if (!(await isValid(given, table, rule)) && !(await alone(given, added))) return;
    await validate(db, table, rule);
  }
  for (const key of TENANT_KEYS) if (!(await build(db, key))) return;
  for (const reference of TENANT_REFERENCES) {
    if (!(await alone(given, [addReference(reference, " not valid")]))) return;
    await validate(db, reference.table, referenceMadeAs(reference));
  }
}

/** Runs them where no other daemon does or migrates at the same moment. False where one has migrated by now: nothing is left to prepare. */
const alone = (db: Db, statements: readonly string[]): Promise<boolean> =>
  db.tx(async (sql) => {
    await lockMigrations(sql);
    if (await isMigrated(sql)) return false;
    for (const statement of statements) await sql.query(statement);
    return true;
  });

async function isMigrated(sql: Sql): Promise<boolean> {
  const rows = await sql.query(
    `select from ${MIGRATION_TABLES.migrationTableName} where name = 'mem_0017_tenant_keys'`,
  );
  return rows.length > 0;
}

/** Shelf by shelf: the entries of one are found by its number. */
async function putRight(db: Db, table: string): Promise<void> {
  const ofShelf =
    table === "lex_block" ? "key >= $1::int8 << 40 and key < ($1::int8 + 1) << 40" : "sk = $1::int8::int4";
  const shelves = await db.query<{ sk: number; tenant_id: string }>("select sk, tenant_id from shelves order by sk");
  for (const { sk, tenant_id } of shelves)
    for (;;) {
      const rows = await db.query(
        `update ${table} set tenant_id = $2 where ctid = any(array(
           select ctid from ${table} where ${ofShelf} and tenant_id is distinct from $2 limit ${BATCH})) returning 1`,
        [sk, tenant_id],
      );
      if (rows.length < BATCH) break;
    }
}

async function isValid(db: Db, table: string, name: string): Promise<boolean> {
  const rows = await db.query(
    "select from pg_constraint where conrelid = to_regclass($1) and conname = $2 and convalidated",
    [table, name],
  );
  return rows.length > 0;
}

/** Another daemon may have migrated meanwhile, and the name is gone. */
async function validate(db: Db, table: string, name: string): Promise<void> {
  if (await isValid(db, table, name)) return;
  try {
    await db.exec(`alter table ${table} validate constraint ${name}`);
  } catch (error) {
    if (!(await isMigrated(db))) throw error;
  }
}

interface IndexFound {
  readonly valid: boolean;
  readonly underWay: boolean;
}

async function find(db: Db, name: string): Promise<IndexFound | undefined> {
  const [row] = await db.query<{ valid: boolean; under_way: boolean }>(
    `select i.indisvalid as valid,
       exists (select from pg_stat_progress_create_index p where p.relid = i.indrelid and p.datname = current_database()) as under_way
     from pg_index i where i.indexrelid = to_regclass($1)`,
    [name],
  );
  return row && { valid: row.valid, underWay: row.under_way };
}

/** An index that nobody builds and that is not valid is what was left of one that was interrupted. False as in `alone`. */
async function build(db: Db, key: TenantKey): Promise<boolean> {
  const name = madeAs(key);
  for (;;) {
    if (await isMigrated(db)) {
      await db.exec(`drop index concurrently if exists ${name}`);
      return false;
    }
    const found = await find(db, name);
    if (found?.valid) return true;
    if (found?.underWay) {
      await new Promise((resume) => setTimeout(resume, 250));
      continue;
    }
    if (found !== undefined) await db.exec(`drop index concurrently if exists ${name}`);
    try {
      await db.exec(createKey(key, "concurrently "));
    } catch (error) {
      // Another daemon was faster: its index is looked at with the next turn.
      if ((await find(db, name)) === undefined && !(await isMigrated(db))) throw error;
    }
  }
}
