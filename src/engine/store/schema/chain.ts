/** Runs the migrations, once, however many processes start at the same moment: see `MigrationAdapter`. */
import { type Migration, type MigrationResultSet, Migrator } from "kysely";
import type { Db } from "../../adapters/db/port.ts";
import { MemoryError, unavailable } from "../../domain/errors.ts";
import { asOwnerOf } from "../access/access.ts";
import { readAccess } from "../access/roles.ts";
import { mem_0001_foundation } from "../migrations/mem_0001_foundation.ts";
import { mem_0002_lifecycle } from "../migrations/mem_0002_lifecycle.ts";
import { mem_0003_retrieval } from "../migrations/mem_0003_retrieval.ts";
import { mem_0004_consolidation } from "../migrations/mem_0004_consolidation.ts";
import { mem_0005_lineage } from "../migrations/mem_0005_lineage.ts";
import { mem_0006_waiting_facts } from "../migrations/mem_0006_waiting_facts.ts";
import { mem_0007_life } from "../migrations/mem_0007_life.ts";
import { mem_0008_waiting_runs } from "../migrations/mem_0008_waiting_runs.ts";
import { mem_0009_judgements } from "../migrations/mem_0009_judgements.ts";
import { mem_0010_pages } from "../migrations/mem_0010_pages.ts";
import { mem_0011_large_pages } from "../migrations/mem_0011_large_pages.ts";
import { mem_0012_row_security } from "../migrations/mem_0012_row_security.ts";
import { mem_0013_erasure } from "../migrations/mem_0013_erasure.ts";
import { mem_0014_quarantine } from "../migrations/mem_0014_quarantine.ts";
import { mem_0015_retention } from "../migrations/mem_0015_retention.ts";
import { mem_0016_keys } from "../migrations/mem_0016_keys.ts";
import { mem_0017_tenant_keys } from "../migrations/mem_0017_tenant_keys.ts";
import { mem_0018_long_lists } from "../migrations/mem_0018_long_lists.ts";
import { mem_0019_changed_memories } from "../migrations/mem_0019_changed_memories.ts";
import { mem_0020_session_order } from "../migrations/mem_0020_session_order.ts";
import { mem_0021_room_beside_vectors } from "../migrations/mem_0021_room_beside_vectors.ts";
import { kyselyOver } from "./kysely.ts";
import { MIGRATION_NAMES, MIGRATION_TABLES, type MigrationName, newerStore } from "./names.ts";
import { prepareTenantKeys } from "./prepare-tenant-keys.ts";

const MIGRATIONS: Readonly<Record<MigrationName, Migration>> = {
  mem_0001_foundation,
  mem_0002_lifecycle,
  mem_0003_retrieval,
  mem_0004_consolidation,
  mem_0005_lineage,
  mem_0006_waiting_facts,
  mem_0007_life,
  mem_0008_waiting_runs,
  mem_0009_judgements,
  mem_0010_pages,
  mem_0011_large_pages,
  mem_0012_row_security,
  mem_0013_erasure,
  mem_0014_quarantine,
  mem_0015_retention,
  mem_0016_keys,
  mem_0017_tenant_keys,
  mem_0018_long_lists,
  mem_0019_changed_memories,
  mem_0020_session_order,
  mem_0021_room_beside_vectors,
};

export async function migrateUp(db: Db): Promise<void> {
  if (db.kind === "postgres" && (await latest(db)) === "mem_0016_keys") await prepareTenantKeys(db);
  finish(await migrator(db).migrateToLatest());
}

/** A store from before all that may be long starts empty or small: what it needs is done by the migrations themselves. */
async function latest(db: Db): Promise<string | undefined> {
  const { migrationTableName: table } = MIGRATION_TABLES;
  const [there] = await db.query<{ there: boolean }>(`select to_regclass('${table}') is not null as there`);
  if (!there?.there) return undefined;
  const [last] = await db.query<{ name: string }>(`select name from ${table} order by name desc limit 1`);
  return last?.name;
}

/** Reverts every migration: for tests, and to remove the memory from a database. */
export async function migrateDown(given: Db): Promise<void> {
  const db = asOwnerOf(given, (await readAccess(given)).roles, "migrations");
  const chain = migrator(db);
  for (const _ of MIGRATION_NAMES) finish(await chain.migrateDown());
  await db.exec(`drop table ${MIGRATION_TABLES.migrationTableName}, ${MIGRATION_TABLES.migrationLockTableName}`);
}

function migrator(db: Db): Migrator {
  return new Migrator({ db: kyselyOver(db), provider: { getMigrations: async () => MIGRATIONS }, ...MIGRATION_TABLES });
}

function finish({ error }: MigrationResultSet): void {
  if (error === undefined) return;
  if (error instanceof MemoryError) throw error;
  if (error instanceof Error && error.message.startsWith("corrupted migrations")) throw newerStore(error);
  if (isMissingVector(error))
    throw unavailable(
      "this PostgreSQL server has no pgvector: install postgresql-NN-pgvector, or use the pgvector/pgvector image, and start again.",
      error,
    );
  throw error;
}

function isMissingVector(error: unknown): boolean {
  return error instanceof Error && /extension "vector" is not available|extension control file/.test(error.message);
}
