import { openPglite } from "../engine/adapters/db/pglite.ts";
import type { Memory } from "../engine/memory/memory.ts";
import { type ReplayProgress, type ReplayReport, verifyReplay } from "../engine/memory/past/replay.ts";
import { migrate } from "../engine/store/schema/migrate.ts";

/**
 * The scratch store is PGlite in memory for both kinds of store: it needs no rights on a server, leaves nothing behind
 * when the process dies, and takes about as much memory as the rows have bytes, twice.
 */
export async function verifyInScratch(memory: Memory, tell: ReplayProgress): Promise<ReplayReport> {
  const scratch = await openPglite({ dir: undefined });
  try {
    await migrate(scratch);
    return await verifyReplay(memory.db, scratch, tell);
  } finally {
    await scratch.close();
  }
}
