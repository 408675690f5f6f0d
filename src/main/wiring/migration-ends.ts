/** The two ends of `butler migrate`: where a butler's memory is, and where it goes. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Home, homeAt } from "../../daemon/home.ts";
import { openPgliteExclusive } from "../../engine/adapters/db/pglite.ts";
import type { Db } from "../../engine/adapters/db/port.ts";
import { parseTarget } from "../../engine/adapters/db/postgres-target.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { invalid } from "../../engine/domain/errors.ts";
import { hasDatabase, openServerStore } from "./server-stores.ts";
import { openDb } from "./stores.ts";

/** A PostgreSQL server, or a home with embedded stores. */
export interface Place {
  readonly url: string | undefined;
  readonly home: Home;
}

export function placeNamed(text: string, home: Home): Place {
  if (/^postgres(ql)?:/.test(text)) {
    parseTarget(text);
    return { url: text, home };
  }
  if (text.includes("://"))
    throw invalid("to", "--to takes a folder, or a database URL that begins with postgres:// or postgresql://.");
  return { url: undefined, home: homeAt(text) };
}

/** Refuses to move a memory to where it is. */
export function refuseSame(from: Place, to: Place): void {
  const same =
    from.url === undefined || to.url === undefined
      ? from.url === to.url && from.home.root === to.home.root
      : parseTarget(from.url, "butler").server === parseTarget(to.url, "butler").server;
  if (same)
    throw invalid(
      "to",
      "--to names the place where the memory is already: name the server or the folder to move it to.",
    );
}

export const holdsStore = async (place: Place, butler: string): Promise<boolean> =>
  place.url === undefined ? existsSync(join(place.home.store(butler), "PG_VERSION")) : hasDatabase(place.url, butler);

/** Connections carry a name of their own, by which those of others are told apart. */
export function openPlace(place: Place, butler: string, log: Log): Promise<Db> {
  const name = `butler migrate ${process.pid}`;
  if (place.url !== undefined) return openServerStore(place.url, butler, log, { applicationName: name });
  const dir = place.home.store(butler);
  return existsSync(join(dir, "PG_VERSION"))
    ? openPgliteExclusive({ dir })
    : openDb({ folder: place.home.store, databaseUrl: undefined }, butler, log);
}
