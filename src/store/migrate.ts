/** Brings a database to this version's schema, once, however many processes start at the same moment: see `MigrationAdapter`. */
import { type MigrationResultSet, Migrator } from "kysely";
import type { Db } from "../adapters/db/port.ts";
import { MemoryError, unavailable } from "../domain/errors.ts";
import { kyselyOver } from "./kysely.ts";
import { mem_0001_foundation } from "./migrations/mem_0001_foundation.ts";
import { mem_0002_lifecycle } from "./migrations/mem_0002_lifecycle.ts";
import { mem_0003_retrieval } from "./migrations/mem_0003_retrieval.ts";
import { mem_0004_consolidation } from "./migrations/mem_0004_consolidation.ts";

const MIGRATIONS = { mem_0001_foundation, mem_0002_lifecycle, mem_0003_retrieval, mem_0004_consolidation };
const NAMES = Object.keys(MIGRATIONS);
const TABLES = { migrationTableName: "mem_migrations", migrationLockTableName: "mem_migrations_lock" };

export async function migrate(db: Db): Promise<void> {
  if (await isCurrent(db)) return;
  finish(await migrator(db).migrateToLatest());
}

/** Takes everything away again; for tests and for whoever wants to leave. */
export async function migrateDown(db: Db): Promise<void> {
  const chain = migrator(db);
  for (const _ of NAMES) finish(await chain.migrateDown());
  await db.exec(`drop table ${TABLES.migrationTableName}, ${TABLES.migrationLockTableName}`);
}

function migrator(db: Db): Migrator {
  return new Migrator({
    db: kyselyOver(db),
    provider: { getMigrations: async () => MIGRATIONS },
    ...TABLES,
  });
}

/** One query instead of Kysely's dozen: opening an existing store is on the path of the first answer. */
async function isCurrent(db: Db): Promise<boolean> {
  const [table] = await db.query<{ there: boolean }>(
    `select to_regclass('${TABLES.migrationTableName}') is not null as there`,
  );
  if (!table?.there) return false;
  const rows = await db.query<{ name: string }>(`select name from ${TABLES.migrationTableName} order by name`);
  const unknown = rows.filter((row) => !NAMES.includes(row.name));
  if (unknown.length > 0) throw newerStore();
  return rows.length === NAMES.length;
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

const newerStore = (cause?: unknown) =>
  unavailable(
    "this store was made by a newer butler-memory: upgrade butler-memory, or use another BUTLER_HOME.",
    cause,
  );
