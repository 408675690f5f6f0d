/**
 * Who a statement is run as. A tenant's call runs as a role that owns nothing, with the tenant set for the transaction: row security
 * then shows and changes rows of that tenant alone, whatever the statement forgot to ask for. Work on the rows of all tenants runs as
 * the tables' owner, under one of the names below; without a name the owner sees no row either, unless it is a superuser.
 */
import type { Db, Settings } from "../../adapters/db/port.ts";

/** Everything that is done with the rows of all tenants at once. ARCHITECTURE.md has the reason for each; a test compares the two. */
export const OWNER_WORK = [
  "migrations",
  "embedding versions",
  "read model",
  "health",
  "replay",
  "job runs",
  "upkeep",
  "daily budget",
  "provider trouble",
  "consolidate",
  "promote",
  "decay_sweep",
  "episode_cleanup",
  "reembed",
  "hygiene",
  "retention",
  "rekey",
  "partitions",
  "erasure",
  "move",
  "lab",
] as const;
export type OwnerWork = (typeof OWNER_WORK)[number];

export interface StoreRoles {
  /** Undefined where there is no such role: tenants' calls then run as the owner, for whom row security is in force too. */
  readonly tenant: string | undefined;
  /** Set where the user of the connection is not the owner, but may act as it. */
  readonly owner: string | undefined;
}

export const TENANT_SETTING = "butler.tenant";
export const WORK_SETTING = "butler.work";

/** The store as one tenant sees it. */
export const asTenant = (db: Db, { tenant: role }: StoreRoles, tenant: string): Db =>
  db.withSettings({ ...roleSetting(role), [TENANT_SETTING]: tenant });

/** The store with no row of any tenant in it: for what is nobody's call. */
export const asNobody = (db: Db, roles: StoreRoles): Db => asTenant(db, roles, "");

/** The whole store. The events' trigger lets rows be changed and deleted under the names `erasure` and `retention` alone. */
export const asOwnerOf = (db: Db, { owner }: StoreRoles, work: OwnerWork, more: Settings = {}): Db =>
  db.withSettings({ ...more, ...roleSetting(owner), [WORK_SETTING]: work });

const roleSetting = (role: string | undefined): Settings => (role === undefined ? {} : { role });
