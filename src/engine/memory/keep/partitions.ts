/** Keeps the parts of divided tables: the months to come are there before they are needed, and what has become empty goes. On a server alone. */
import { errorCode } from "../../domain/errors.ts";
import { isNear, missingMonths, PARTED, type PartedTable, partName, pastParts } from "../../domain/partitions.ts";
import { dropBoundary } from "../../store/partitions/divide.ts";
import { addMonth, dropIfEmpty, SHORT_WAIT } from "../../store/partitions/make-part.ts";
import { readParts, type TableParts } from "../../store/partitions/parts.ts";
import { defineJob, type JobContext } from "./job.ts";
import { type JobTally, newTally } from "./job-call.ts";

export const partitions = defineJob({
  name: "partitions",
  about:
    "Makes the parts of divided tables ahead and takes away empty ones; only on a server, once butler ops partition has divided them.",
  cron: "45 4 * * *",
  async run(context) {
    const tally = newTally();
    if (context.memory.db.kind === "pglite") return tally.report(true);
    for (const table of PARTED) {
      if (context.interrupted()) return tally.report(false);
      const found = await readParts(context.memory.db, table);
      if (found.parted) await keep(context, tally, found);
      else await tidy(context, tally, found);
    }
    return tally.report(true);
  },
});

async function keep({ memory, now, dryRun }: JobContext, tally: JobTally, { table, parts }: TableParts): Promise<void> {
  for (const month of missingMonths(parts, now)) {
    tally.count("made");
    if (dryRun) continue;
    tally.note(`${await addMonth(memory.db, table, month)} was made.`);
  }
  for (const { name } of pastParts(parts, now)) {
    const gone = dryRun ? await isEmpty(memory, name) : await dropped(memory, table, name);
    if (!gone) continue;
    tally.count("removed");
    if (!dryRun) tally.note(`${name} was empty and is gone.`);
  }
}

const isEmpty = async (memory: JobContext["memory"], name: string): Promise<boolean> =>
  (await memory.db.query(`select from ${name} limit 1`)).length === 0;

/** One that is being read stays until the next run. */
async function dropped(memory: JobContext["memory"], table: PartedTable, name: string): Promise<boolean> {
  try {
    return await memory.db.tx(async (sql) => {
      await sql.query(SHORT_WAIT);
      return dropIfEmpty(sql, table, name);
    });
  } catch (error) {
    if (errorCode(error) !== "55P03") throw error;
    return false;
  }
}

/** A division that was begun and never finished must not refuse rows when its boundary comes. */
async function tidy({ memory, now, dryRun }: JobContext, tally: JobTally, found: TableParts): Promise<void> {
  if (found.begun === undefined || !isNear(found.begun, now)) return;
  tally.count("boundaries_removed");
  if (dryRun) return;
  await dropBoundary(memory.db, found.table);
  tally.note(
    `${found.table}: its division was begun and not finished; the boundary ${partName(found.table, found.begun)} is taken back.`,
  );
}
