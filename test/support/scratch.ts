/** The store that tests replay into. It is one for all files that share modules, and ends with the process: opening one takes longer than most replays. */
import { openPglite, type PgliteDb } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { type ReplayReport, verifyReplay } from "../../src/engine/memory/past/replay.ts";
import { migratedSnapshot } from "./stores.ts";

let opened: Promise<PgliteDb> | undefined;

const openScratch = async () => openPglite({ dir: undefined, snapshot: await migratedSnapshot() });

/** A verification leaves the store without constraints: it is for further ones alone. */
export async function verifyInScratch(source: Db): Promise<ReplayReport> {
  opened ??= openScratch();
  const scratch = await opened;
  await scratch.exec(
    "truncate episodes, facts, rules, rule_applications, memory_links, episode_references restart identity cascade",
  );
  return verifyReplay(source, scratch);
}
