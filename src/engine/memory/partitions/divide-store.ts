/** What dividing the large tables of a server would bring, and doing it: `butler ops`. */
import type { Db } from "../../adapters/db/port.ts";
import { conflict, errorCode } from "../../domain/errors.ts";
import { missingMonths, PARTED, PAYS_FROM, type PartedTable, pays } from "../../domain/partitions.ts";
import { asOwnerOf } from "../../store/access/access.ts";
import { readAccess } from "../../store/access/roles.ts";
import { divide, setBoundary } from "../../store/partitions/divide.ts";
import { addMonth } from "../../store/partitions/make-part.ts";
import { readParts, type TableParts } from "../../store/partitions/parts.ts";

export interface TablePlan extends TableParts {
  readonly pays: boolean;
  readonly pays_from: { readonly rows: number; readonly bytes: number };
}

const owned = async (db: Db): Promise<Db> => asOwnerOf(db, (await readAccess(db)).roles, "partitions");

export async function planDivision(store: Db): Promise<TablePlan[]> {
  const db = await owned(store);
  const plans: TablePlan[] = [];
  for (const table of PARTED) {
    const parts = await readParts(db, table);
    plans.push({ ...parts, pays: pays(table, parts), pays_from: PAYS_FROM[table] });
  }
  return plans;
}

export interface Dividing {
  readonly now: Date;
  tell(table: PartedTable, doing: "boundary" | "exchange" | "waiting"): void;
  /** How often the short lock is tried for. */
  readonly attempts?: number;
}

const ATTEMPTS = 60;
const PAUSE_MS = 1_000;

/** Gives the tables that it has divided; one that has parts already gets those that are missing ahead. */
export async function divideStore(
  store: Db,
  tables: readonly PartedTable[],
  { now, tell, attempts = ATTEMPTS }: Dividing,
): Promise<PartedTable[]> {
  const db = await owned(store);
  const done: PartedTable[] = [];
  for (const table of tables) {
    const trying = <T>(work: () => Promise<T>) => insist(work, table, tell, attempts);
    if (!(await readParts(db, table)).parted) {
      tell(table, "boundary");
      const boundary = await trying(() => setBoundary(db, table, now));
      tell(table, "exchange");
      await trying(() => divide(db, table, boundary));
      done.push(table);
    }
    // Not in the exchange: until the boundary comes nobody needs them, and each is a lock of its own.
    for (const month of missingMonths((await readParts(db, table)).parts, now))
      await trying(() => addMonth(db, table, month));
  }
  return done;
}

/** A lock that is not had at once is let go and asked for again: nobody queues behind it meanwhile. */
async function insist<T>(
  work: () => Promise<T>,
  table: PartedTable,
  tell: Dividing["tell"],
  attempts: number,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!["55P03", "40P01"].includes(errorCode(error) ?? "")) throw error;
      if (attempt >= attempts)
        throw conflict(
          `${table} is in use all the time: no moment was found to exchange it. Nothing is lost; run the same again when less is going on.`,
        );
      tell(table, "waiting");
      await new Promise((resume) => setTimeout(resume, PAUSE_MS));
    }
  }
}
