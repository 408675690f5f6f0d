/** What tells stores apart when one is moved: whether there are memories in it, how far its history goes, and whose copy it is. */
import type { Db, Sql } from "../../adapters/db/port.ts";
import { MIGRATION_TABLES } from "../schema/names.ts";
import { MOVE_TABLE } from "../schema/unfinished-move.ts";

export { MOVE_TABLE };

/** Moves on with everything that happens in a store but the upkeep of its search index. */
export async function historyMark(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ mark: string }>(
    `select concat_ws(' ',
       (select count(*) from memory_events),
       (select id from memory_events order by seq limit 1),
       (select id from memory_events order by seq desc limit 1),
       (select coalesce(max(seq), 0) from erasure_receipts),
       (select coalesce(max(seq), 0) from event_checkpoints)) as mark`,
  );
  return row?.mark ?? "";
}

/** Opening a store enrols its embedding model, and the scheduler writes down runs of jobs: that makes no memory yet. */
export async function holdsMemories(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ some: boolean }>(
    `select exists (select from memory_events where entity_type <> 'embedding_version')
       or exists (select from episodes) or exists (select from facts) or exists (select from rules) as some`,
  );
  return row?.some ?? false;
}

export async function hasTable(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql.query<{ there: boolean }>("select to_regclass($1) is not null as there", [name]);
  return row?.there ?? false;
}

export const isMigrated = (sql: Sql): Promise<boolean> => hasTable(sql, MIGRATION_TABLES.migrationTableName);

export async function readMoveMark(sql: Sql): Promise<string | undefined> {
  if (!(await hasTable(sql, MOVE_TABLE))) return undefined;
  const [row] = await sql.query<{ mark: string }>(`select mark from ${MOVE_TABLE}`);
  return row?.mark ?? "";
}

export async function writeMoveMark(db: Db, mark: string): Promise<void> {
  await db.tx(async (sql) => {
    await sql.query(`create table if not exists ${MOVE_TABLE} (mark text not null)`);
    await sql.query(`delete from ${MOVE_TABLE}`);
    await sql.query(`insert into ${MOVE_TABLE} (mark) values ($1)`, [mark]);
  });
}

export const dropMoveMark = (db: Db): Promise<void> => db.exec(`drop table ${MOVE_TABLE}`);

/** Connections of others to a database of a server, by the names of their programs. */
export async function otherPrograms(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `select distinct coalesce(nullif(application_name, ''), usename, 'unknown') as name from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend'
       and application_name is distinct from current_setting('application_name') order by 1`,
  );
  return rows.map(({ name }) => name);
}
