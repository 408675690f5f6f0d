/**
 * Opens the only embedded store of a home before anything else is loaded: it opens in a thread of its own, while the rest loads for
 * half a second. A client, often an agent's hook, waits for an owner that starts.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../../daemon/home.ts";
import { openPgliteExclusive } from "../../engine/adapters/db/pglite.ts";
import type { Db } from "../../engine/adapters/db/port.ts";

/** Gives the store that was opened early to the first caller; undefined for later ones. */
export type EarlyStore = (butler: string) => Promise<Db> | undefined;

/** Only where there is one butler: the owner opens its store right after its start. */
export function openEarly(home: Home, roster: string | undefined): EarlyStore {
  const names = roster === undefined ? ["general"] : namesIn(roster);
  const [only = ""] = names;
  const there = names.length === 1 && existsSync(join(home.store(only), "PG_VERSION"));
  let opening = there ? openPgliteExclusive({ dir: home.store(only) }) : undefined;
  // A failure is reported to the call that takes the store.
  opening?.catch(() => undefined);
  return (butler) => {
    if (butler !== only) return undefined;
    const taken = opening;
    opening = undefined;
    return taken;
  };
}

function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => existsSync(join(folder, name, "butler.toml")));
}
