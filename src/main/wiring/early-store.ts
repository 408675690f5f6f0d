/**
 * Opens the only embedded store of a home before anything else is loaded: it opens in a thread of its own, and the half second that
 * loading the rest takes then passes beside it. Somebody, often an agent's hook, waits for an owner that starts.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../../daemon/home.ts";
import { openPgliteExclusive } from "../../engine/adapters/db/pglite.ts";
import type { Db } from "../../engine/adapters/db/port.ts";

/** Given away once; whoever opens that store later opens it anew. */
export type EarlyStore = (butler: string) => Promise<Db> | undefined;

/** Only where there is one butler: the owner then opens its store at once, and this is what it gets. */
export function openEarly(home: Home, roster: string | undefined): EarlyStore {
  const names = roster === undefined ? ["general"] : namesIn(roster);
  const [only = ""] = names;
  const there = names.length === 1 && existsSync(join(home.store(only), "PG_VERSION"));
  let opening = there ? openPgliteExclusive({ dir: home.store(only) }) : undefined;
  // What fails is told to the call that takes it.
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
