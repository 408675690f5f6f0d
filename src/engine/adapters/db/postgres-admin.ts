import { errorCode, invalid, unavailable } from "../../domain/errors.ts";
import type { Sql } from "./port.ts";
import { openPostgres } from "./postgres.ts";
import { closeToPublic, createDatabaseFor } from "./postgres-rights.ts";
import { parseTarget } from "./postgres-target.ts";

const MIN_SERVER = 15;
/** The first with iterative index scans, without which a filtered search returns too few rows. */
const MIN_PGVECTOR = [0, 8] as const;

/** PostgreSQL cuts longer names off silently, and two butlers could then share a database. */
const MAX_NAME_BYTES = 63;

/**
 * Connects to the URL's own database, creates `butler_<name>` when it is missing, and returns the URL for it. Two
 * processes may do this at once.
 */
export async function ensureDatabase(url: string, name: string, directUrl?: string): Promise<string> {
  const database = databaseOf(name);
  const db = await openPostgres({ url, directUrl, max: 1 });
  try {
    if (!(await isThere(db, database))) {
      await db.exec(`create database "${database}"`);
      await db.exec(closeToPublic(database));
    }
  } catch (error) {
    if (!isCreatedMeanwhile(error)) throw mayNotCreate(error, database, url);
  } finally {
    await db.close();
  }
  return parseTarget(url, database).url;
}

/** Whether a butler has its database, without creating it. */
export async function hasDatabase(url: string, name: string): Promise<boolean> {
  const db = await openPostgres({ url, max: 1 });
  try {
    return await isThere(db, databaseOf(name));
  } finally {
    await db.close();
  }
}

function databaseOf(name: string): string {
  const database = `butler_${name}`;
  if (!/^[a-z0-9][a-z0-9_-]*$/.test(name) || database.length > MAX_NAME_BYTES)
    throw invalid("name", "A butler's name is made of a-z, 0-9, - and _, and has at most 56 characters");
  return database;
}

async function isThere(sql: Sql, database: string): Promise<boolean> {
  return (await sql.query("select 1 from pg_database where datname = $1", [database])).length > 0;
}

export interface ServerVersions {
  readonly server: string;
  readonly pgvector: string;
}

/** Refuses a server that lacks what the memory needs, before a migration fails half-way with a message that says less. */
export async function checkServer(sql: Sql): Promise<ServerVersions> {
  const [row] = await sql.query<{ number: number; server: string; encoding: string; pgvector: string | null }>(
    `select current_setting('server_version_num')::int as number,
            split_part(current_setting('server_version'), ' ', 1) as server,
            current_setting('server_encoding') as encoding,
            (select coalesce(installed_version, default_version)
               from pg_available_extensions where name = 'vector') as pgvector`,
  );
  if (row === undefined) throw unavailable("PostgreSQL did not tell its version");
  const major = Math.floor(row.number / 10_000);
  if (major < MIN_SERVER) throw unavailable(`PostgreSQL ${row.server} is too old: use version ${MIN_SERVER} or newer`);
  if (row.encoding !== "UTF8")
    throw unavailable(`The database is encoded in ${row.encoding}: create it anew with encoding 'UTF8'`);
  const remedy = `install postgresql-${major}-pgvector on the server, or use the pgvector/pgvector image`;
  if (row.pgvector === null) throw unavailable(`PostgreSQL ${row.server} has no pgvector: ${remedy}`);
  if (isOlder(row.pgvector))
    throw unavailable(
      `pgvector ${row.pgvector} is too old, ${MIN_PGVECTOR.join(".")} is needed: ${remedy}, then run "alter extension vector update"`,
    );
  return { server: row.server, pgvector: row.pgvector };
}

/** Whether a server follows another one, and whether that one is sending. */
export async function readFollowing(sql: Sql): Promise<{ readonly follows: boolean; readonly streams: boolean }> {
  const [row] = await sql.query<{ follows: boolean; streams: boolean }>(
    "select pg_is_in_recovery() as follows, exists (select from pg_stat_wal_receiver) as streams",
  );
  return row ?? { follows: false, streams: false };
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < MIN_PGVECTOR[0] || (major === MIN_PGVECTOR[0] && minor < MIN_PGVECTOR[1]);
}

/** Of two processes that create it at once, one fails: before the other's commit on the unique index of the catalogue, after it on the name check. */
function isCreatedMeanwhile(error: unknown): boolean {
  const code = errorCode(error);
  return code === "42P04" || code === "23505";
}

function mayNotCreate(error: unknown, database: string, url: string): unknown {
  if (errorCode(error) !== "42501") return error;
  const { user } = parseTarget(url);
  return unavailable(
    `The user "${user}" of the database URL may not create databases. An administrator has to run: ${createDatabaseFor(database, user)} or: alter role "${user}" createdb;`,
    error,
  );
}
