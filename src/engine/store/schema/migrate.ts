/** Brings a database to this version's schema. */
import type { Db } from "../../adapters/db/port.ts";
import { MIGRATION_NAMES, MIGRATION_TABLES, newerStore } from "./names.ts";

const NAMES = new Set<string>(MIGRATION_NAMES);

export async function migrate(db: Db): Promise<void> {
  if (await isCurrent(db)) return;
  const { migrateUp } = await import("./chain.ts");
  await migrateUp(db);
}

/** One query instead of Kysely's dozen: opening an existing store is on the path of the first answer. */
async function isCurrent(db: Db): Promise<boolean> {
  const { migrationTableName: name } = MIGRATION_TABLES;
  const [table] = await db.query<{ there: boolean }>(`select to_regclass('${name}') is not null as there`);
  if (!table?.there) return false;
  const rows = await db.query<{ name: string }>(`select name from ${name} order by name`);
  if (rows.some((row) => !NAMES.has(row.name))) throw newerStore();
  return rows.length === NAMES.size;
}
