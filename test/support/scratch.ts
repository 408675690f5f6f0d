/** The store that tests of one file replay into. It is one for the file: opening one takes longer than most replays. */
import { openPglite, type PgliteDb } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { type ReplayReport, verifyReplay } from "../../src/engine/memory/past/replay.ts";
import { closeWithFile } from "./file-end.ts";
import { migratedSnapshot } from "./stores.ts";

let opened: Promise<PgliteDb> | undefined;

async function openScratch(): Promise<PgliteDb> {
  const scratch = await openPglite({ dir: undefined, snapshot: await migratedSnapshot() });
  closeWithFile(() => {
    opened = undefined;
    return scratch.close();
  });
  return scratch;
}

/** A verification leaves the store without constraints: it is for further ones alone. */
export async function verifyInScratch(source: Db): Promise<ReplayReport> {
  opened ??= openScratch();
  const scratch = await opened;
  await scratch.exec(
    "truncate episodes, facts, rules, rule_applications, memory_links, episode_references restart identity cascade",
  );
  return verifyReplay(source, scratch);
}
