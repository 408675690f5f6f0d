/** Stores that are databases of a PostgreSQL server. A module of its own: an owner of embedded stores does not load the client of the server. */
import type { Db } from "../../engine/adapters/db/port.ts";
import { openPostgres } from "../../engine/adapters/db/postgres.ts";
import { checkServer, ensureDatabase, hasDatabase } from "../../engine/adapters/db/postgres-admin.ts";
import { checkRights, openDatabaseWarning, superuserWarning } from "../../engine/adapters/db/postgres-rights.ts";
import type { Log } from "../../engine/adapters/log.ts";

export { hasDatabase };

/** Throws a sentence when the server cannot be reached or used; returns a warning, if there is one. */
export async function checkServerAt(databaseUrl: string): Promise<string | undefined> {
  const db = await openPostgres({ url: databaseUrl, max: 1 });
  try {
    await checkServer(db);
    return await superuserWarning(db);
  } finally {
    await db.close();
  }
}

/** One connection to a butler's database, as it is. */
export const openBare = (databaseUrl: string, butler: string): Promise<Db> =>
  openPostgres({ url: databaseUrl, database: `butler_${butler}`, max: 1 });

export async function openServerStore(
  databaseUrl: string,
  butler: string,
  log: Log,
  applicationName = "butler",
): Promise<Db> {
  const db = await openPostgres({ url: await ensureDatabase(databaseUrl, butler), applicationName });
  try {
    await checkServer(db);
    await checkRights(db);
    const unwise = await openDatabaseWarning(db);
    if (unwise !== undefined) log.warn({ butler }, unwise);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}
