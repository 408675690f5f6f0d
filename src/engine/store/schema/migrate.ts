/** Brings a database to this version's schema. */
import type { Db } from "../../adapters/db/port.ts";
import { asOwnerOf } from "../access/access.ts";
import { readAccess, type StoreAccess } from "../access/roles.ts";
import { MIGRATION_NAMES, MIGRATION_TABLES, newerStore } from "./names.ts";
import { MOVE_TABLE, unfinishedMove } from "./unfinished-move.ts";

const NAMES = new Set<string>(MIGRATION_NAMES);

/** Tells who the store is used as from now on. Refuses one that is being filled by a move. */
export const migrate = (db: Db): Promise<StoreAccess> => bringUp(db, "user");

/** The same, for whoever fills it. */
export const migrateForMove = (db: Db): Promise<StoreAccess> => bringUp(db, "mover");

type By = "user" | "mover";

async function bringUp(db: Db, by: By): Promise<StoreAccess> {
  const access = await readAccess(db);
  const owned = asOwnerOf(db, access.roles, "migrations");
  if (await isCurrent(owned, by))
    return access.policed && access.roles.tenant !== undefined ? access : secureAgain(db, owned);
  const { migrateUp } = await import("./chain.ts");
  await migrateUp(owned);
  return readAccess(db);
}

/** The role may be there or allowed by now, or was left behind when the database was moved; or the tables have another owner. */
async function secureAgain(db: Db, owned: Db): Promise<StoreAccess> {
  const { SECURE_TABLES } = await import("../access/row-security.ts");
  await owned.tx((sql) => sql.query(SECURE_TABLES));
  return readAccess(db);
}

/** One query instead of Kysely's dozen: opening an existing store is on the path of the first answer. */
export async function isCurrent(db: Db, by: By = "user"): Promise<boolean> {
  const { migrationTableName: name } = MIGRATION_TABLES;
  const [table] = await db.query<{ there: boolean; moving: boolean }>(
    `select to_regclass('${name}') is not null as there, to_regclass('${MOVE_TABLE}') is not null as moving`,
  );
  if (table?.moving && by === "user") throw unfinishedMove();
  if (!table?.there) return false;
  const rows = await db.query<{ name: string }>(`select name from ${name} order by name`);
  if (rows.some((row) => !NAMES.has(row.name))) throw newerStore();
  return rows.length === NAMES.size;
}
