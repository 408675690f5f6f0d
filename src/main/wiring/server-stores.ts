/** Stores that are databases of a PostgreSQL server. A module of its own: an owner of embedded stores does not load the client of the server. */
import { planesDb } from "../../engine/adapters/db/planes.ts";
import type { Db } from "../../engine/adapters/db/port.ts";
import { openPostgres } from "../../engine/adapters/db/postgres.ts";
import { checkServer, ensureDatabase, hasDatabase } from "../../engine/adapters/db/postgres-admin.ts";
import { checkRights, openDatabaseWarning, superuserWarning } from "../../engine/adapters/db/postgres-rights.ts";
import { parseTarget } from "../../engine/adapters/db/postgres-target.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { TENANT_SETTING } from "../../engine/store/access/access.ts";

export { hasDatabase };

/** Behind by more than this, a replica is left out: readers of other processes would see a past that they have left. */
const MOST_LAG_SECONDS = 10;

/** Reads from replicas of the server too. */
export function withReplicas(primary: Db, readUrls: readonly string[], butler: string, log: Log): Db {
  const database = `butler_${butler}`;
  const replicas = readUrls.map((url) => ({
    name: parseTarget(url).server,
    open: () => openPostgres({ url, database }),
  }));
  return planesDb(primary, replicas, {
    tenantSetting: TENANT_SETTING,
    mostLagSeconds: MOST_LAG_SECONDS,
    tell: (replica, reason) =>
      reason === undefined
        ? log.info({ butler, replica }, "the replica is read from")
        : log.warn({ butler, replica, reason }, "the replica is left out of reading"),
  });
}

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
  { applicationName, directUrl }: { applicationName?: string; directUrl?: string | undefined } = {},
): Promise<Db> {
  const url = await ensureDatabase(databaseUrl, butler, directUrl);
  const db = await openPostgres({ url, directUrl, ...(applicationName === undefined ? {} : { applicationName }) });
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
