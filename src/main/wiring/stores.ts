/** The stores of butlers: embedded ones in folders, or databases of a PostgreSQL server. */
import { existsSync, mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip as gunzipTo } from "node:zlib";
import type { Sampled } from "../../daemon/health/sampler.ts";
import type { OwnerJobs } from "../../daemon/owner/owner-state.ts";
import type { ScheduleNotes } from "../../daemon/schedule/notes.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import { openPgliteExclusive } from "../../engine/adapters/db/pglite.ts";
import type { Db } from "../../engine/adapters/db/port.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { jobs } from "../../engine/memory/keep/jobs.ts";
import { asOwnerOf } from "../../engine/store/access/access.ts";
import { readAccess } from "../../engine/store/access/roles.ts";
import { readSample, readSizes } from "../../engine/store/health/sample.ts";
import type { EarlyStore } from "./early-store.ts";

const gunzip = promisify(gunzipTo);

export interface StoreLocation {
  /** The folder of a butler's embedded store. */
  folder(butler: string): string;
  /** A PostgreSQL server; when given, each butler lives in its database there. */
  readonly databaseUrl: string | undefined;
  /** That server without the pooler before it. */
  readonly directUrl?: string | undefined;
  /** Replicas of that server. */
  readonly readUrls?: readonly string[] | undefined;
  readonly early?: EarlyStore | undefined;
}

/** Throws a sentence when the server cannot be reached or used; returns a warning, if there is one. Embedded stores are checked when they are opened. */
export async function checkDatabase(databaseUrl: string | undefined): Promise<string | undefined> {
  return databaseUrl === undefined ? undefined : (await server()).checkServerAt(databaseUrl);
}

const server = () => import("./server-stores.ts");

export async function openDb(location: StoreLocation, butler: string, log: Log): Promise<Db> {
  if (location.databaseUrl === undefined) {
    const early = location.early?.(butler);
    if (early) return early;
    const dir = location.folder(butler);
    mkdirSync(dirname(dir), { recursive: true, mode: 0o700 });
    const snapshot = existsSync(join(dir, "PG_VERSION")) ? undefined : await emptyStore();
    return openPgliteExclusive({ dir, ...(snapshot === undefined ? {} : { snapshot }) });
  }
  const { openServerStore, withReplicas } = await server();
  const db = await openServerStore(location.databaseUrl, butler, log, { directUrl: location.directUrl });
  return location.readUrls?.length ? withReplicas(db, location.readUrls, butler, log) : db;
}

/** Asks a butler's database for its numbers over one connection, without opening the memory in it. */
export async function peekInto(
  databaseUrl: string,
  butler: string,
  clock: Clock,
  work: (store: Sampled) => Promise<void>,
): Promise<void> {
  const store = await (await server()).openBare(databaseUrl, butler);
  try {
    const db = asOwnerOf(store, (await readAccess(store)).roles, "health");
    await work({ sample: () => readSample(db, clock.now()), sizes: () => readSizes(db, clock.now()) });
  } finally {
    await store.close();
  }
}

/** The build leaves a snapshot of a store with all migrations and no rows. Without it a new store takes seconds to make. */
async function emptyStore(): Promise<Uint8Array | undefined> {
  const path = import.meta.url.endsWith(".ts") ? "../../../dist/empty-store.tar.gz" : "../../empty-store.tar.gz";
  const file = new URL(path, import.meta.url);
  return existsSync(file) ? gunzip(await readFile(file)) : undefined;
}

/** The jobs of an owner, and whether a butler has a store that they can run on. */
export function storeJobs(location: StoreLocation, clock: Clock, notes: ScheduleNotes): OwnerJobs {
  const { databaseUrl } = location;
  return {
    jobs,
    clock,
    notes,
    hasStore: async (butler) =>
      databaseUrl === undefined
        ? existsSync(join(location.folder(butler), "PG_VERSION"))
        : (await server()).hasDatabase(databaseUrl, butler),
  };
}
