/**
 * After an erasure the rows are gone for every statement, but their bytes stay in the files until those are written anew: in free space of
 * tables and indexes, in statistics (the most common values of a column), and in the write-ahead log.
 */
import type { Db } from "../../adapters/db/port.ts";

const TABLES = [
  ...["episodes", "facts", "rules", "rule_applications", "memory_links", "episode_references", "embeddings"],
  ...["lex_doc", "lex_block", "lex_long", "memory_events", "idempotency_keys", "consolidation_runs"],
];

export interface Scrubbed {
  /** What only the database server can do, in a sentence each. */
  readonly left: readonly string[];
}

export async function scrub(db: Db): Promise<Scrubbed> {
  const isAlone = async () => db.kind === "pglite" || (await othersHaveEnded(db));
  let alone = await isAlone();
  await clearStatistics(db);
  for (const table of TABLES) await db.exec(`vacuum (full, analyze) ${table}`);
  // The statistics were cleared and made anew since: who began before that may still see the old ones.
  alone = (await isAlone()) && alone;
  await db.exec("vacuum (full) pg_catalog.pg_statistic");
  const { left } = await (db.kind === "pglite" ? renewLog(db) : settleServer(db));
  return { left: alone ? left : [STILL_SEEN, ...left] };
}

const STILL_SEEN =
  "A transaction that began before the erasure was still open, so the files keep the rows that it can see; erase anything, or run vacuum full, when it has ended.";
const PATIENCE_MS = 30_000;
const POLL_MS = 100;

/**
 * A row that an older transaction may still see is copied by VACUUM too. Those of other databases count as well while they write: the
 * snapshot of VACUUM FULL itself begins at the oldest of them. They end within moments, as a rule.
 */
async function othersHaveEnded(db: Db): Promise<boolean> {
  const [now] = await db.query<{ xid: string }>("select pg_current_xact_id()::text as xid");
  for (let waited = 0; waited < PATIENCE_MS; waited += POLL_MS) {
    const [alone] = await db.query<{ yes: boolean }>(
      `select pg_snapshot_xmin(pg_current_snapshot()) > $1::xid8 and not exists (
         select from pg_stat_activity where (datname is null or datname = current_database()) and pid <> pg_backend_pid()
           and age(coalesce(backend_xmin, backend_xid)) > age($1::xid8::xid)) as yes`,
      [now?.xid],
    );
    if (alone?.yes) return true;
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  return false;
}

/** The tables, and their parts on a server where they are divided. */
const WITH_PARTS = `select t.oid from unnest($1::regclass[]) as t (oid)
  union select p.relid from unnest($1::regclass[]) as t (oid) cross join lateral pg_partition_tree(t.oid) p`;

/** ANALYZE keeps what it knew of a table that is empty now. */
async function clearStatistics(db: Db): Promise<void> {
  const [version] = await db.query<{ n: number }>("select current_setting('server_version_num')::int4 as n");
  const columns = await db.query<{ name: string; whole: boolean; column: string }>(
    `select c.relname as name, c.relkind = 'p' as whole, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.oid in (${WITH_PARTS}) and a.attnum > 0 and not a.attisdropped`,
    [TABLES],
  );
  if ((version?.n ?? 0) < 180_000) {
    // Before PostgreSQL 18 a superuser alone can do this; for others the statistics are renewed where rows are left.
    const [own] = await db.query<{ rolsuper: boolean }>("select rolsuper from pg_roles where rolname = current_user");
    if (own?.rolsuper) await db.query(`delete from pg_statistic where starelid in (${WITH_PARTS})`, [TABLES]);
    return;
  }
  for (const { name, whole, column } of columns)
    await db.query(
      "select pg_clear_attribute_stats(schemaname => current_schema(), relname => $1, attname => $2::name, inherited => $3)",
      [name, column, whole],
    );
}

/** A ring of recycled segments would keep the old bytes for weeks; so every segment is left behind once, and deleted. */
const MOST_SEGMENTS = 64;

async function renewLog(db: Db): Promise<Scrubbed> {
  await db.exec("set wal_recycle = off");
  try {
    await db.exec("checkpoint");
    const before = await segments(db);
    for (let passed = 0; passed <= before && passed < MOST_SEGMENTS; passed++) {
      await db.query("select pg_logical_emit_message(false, 'erasure', '')");
      await db.query("select pg_switch_wal()");
      await db.exec("checkpoint");
    }
  } finally {
    await db.exec("reset wal_recycle");
  }
  return { left: [] };
}

async function segments(db: Db): Promise<number> {
  const [row] = await db.query<{ n: number }>("select count(*)::int4 as n from pg_ls_waldir()");
  return row?.n ?? 0;
}

const LOG_IS_THEIRS =
  "The write-ahead log, replicas and backups of the database server keep older bytes until the server recycles them; see to that there.";

async function settleServer(db: Db): Promise<Scrubbed> {
  try {
    await db.exec("checkpoint");
    return { left: [LOG_IS_THEIRS] };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "42501")) throw error;
    return {
      left: [
        "The database server writes its files at its next checkpoint; this role may not ask for one.",
        LOG_IS_THEIRS,
      ],
    };
  }
}
