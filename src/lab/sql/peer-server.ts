/** SQL around peers on a server: the upkeep that autovacuum would do a minute later. */
import { openPostgres } from "../../engine/adapters/db/postgres.ts";

export async function tidyDatabase(url: string): Promise<void> {
  const db = await openPostgres({ url, max: 1 });
  try {
    await db.query("vacuum analyze");
  } finally {
    await db.close();
  }
}
