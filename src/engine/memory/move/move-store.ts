/**
 * Moves a memory from one store to another: every row is copied, then compared, then rebuilt from its events. The source is only read.
 * Until all of it is there the target carries a mark, by which a second attempt knows its own unfinished work and everybody else keeps away.
 */
import type { Db } from "../../adapters/db/port.ts";
import { integrity, invalid, unavailable } from "../../domain/errors.ts";
import { asOwnerOf } from "../../store/access/access.ts";
import { readAccess } from "../../store/access/roles.ts";
import {
  dropMoveMark,
  hasTable,
  historyMark,
  holdsMemories,
  isMigrated,
  MOVE_TABLE,
  otherPrograms,
  readMoveMark,
  writeMoveMark,
} from "../../store/move/marks.ts";
import { TEXT_SETTINGS } from "../../store/move/rows.ts";
import { countRows, lastNumber, type MovedTable, movedTables, setLastNumber } from "../../store/move/tables.ts";
import { isCurrent, migrateForMove } from "../../store/schema/migrate.ts";
import { unfinishedMove } from "../../store/schema/unfinished-move.ts";
import { type ReplayReport, verifyInScratch } from "../past/replay.ts";
import { type Ends, syncTable } from "./sync-table.ts";

export type MoveProgress = (step: { readonly what: string; readonly done: number; readonly total: number }) => void;

export interface MoveOptions {
  readonly source: Db;
  readonly target: Db;
  /** Opens an empty store for the replay of the copy; absent: its rows are not rebuilt from its events. */
  readonly scratch: (() => Promise<Db>) | undefined;
  readonly tell: MoveProgress;
}

export interface MovePlan {
  /** `nothing`: the source holds no memory. `resume`: the target is an unfinished copy of it. `anew`: one of an earlier state of it, which is removed first. */
  readonly start: "nothing" | "new" | "resume" | "anew";
  readonly rows: Readonly<Record<string, number>>;
}

export interface Moved extends MovePlan {
  readonly copied: number;
  readonly compared: number;
  readonly replayed: number | undefined;
}

/** Looks at both ends and says what a move would do; refuses what it must not do. A target that is not there yet is undefined. */
export async function planMove(source: Db, target: Db | undefined): Promise<MovePlan> {
  if (!(await isMigrated(source))) return { start: "nothing", rows: {} };
  if (await hasTable(source, MOVE_TABLE)) throw unfinishedMove();
  const from = await ownedForMove(source);
  if (!(await isCurrent(from)))
    throw unavailable(
      'The memory was last used with an older version: open it once with this one ("butler stats"), then move it.',
    );
  await refuseOthers(source, "is to be moved");
  const rows: Record<string, number> = {};
  for (const table of await movedTables(from)) rows[table.name] = await countRows(from, table);
  if (!(await holdsMemories(from))) return { start: "nothing", rows };
  return { start: target === undefined ? "new" : await startIn(target, await historyMark(from)), rows };
}

async function startIn(target: Db, mark: string): Promise<"new" | "resume" | "anew"> {
  await refuseOthers(target, "is to be filled");
  const found = await readMoveMark(await ownedForMove(target));
  if (found !== undefined) return found === mark ? "resume" : "anew";
  if ((await hasTable(target, "memory_events")) && (await holdsMemories(await ownedForMove(target))))
    throw invalid(
      "to",
      "The target holds other memories, and nothing is written over: name another place with --to, or move what is there out of the way first.",
    );
  return "new";
}

async function refuseOthers(db: Db, what: string): Promise<void> {
  const others = db.kind === "postgres" ? await otherPrograms(db) : [];
  if (others.length > 0)
    throw unavailable(
      `The database that ${what} is in use (${others.join(", ")}): stop every butler that uses it ("butler stop"), then try again.`,
    );
}

async function ownedForMove(db: Db): Promise<Db> {
  const { roles } = await readAccess(db);
  return asOwnerOf(db, roles, "move", db.kind === "postgres" ? TEXT_SETTINGS : {});
}

export async function moveStore({ source, target, scratch, tell }: MoveOptions): Promise<Moved> {
  const plan = await planMove(source, target);
  if (plan.start === "nothing") return { ...plan, copied: 0, compared: 0, replayed: undefined };
  const from = await ownedForMove(source);
  const mark = await historyMark(from);
  if (plan.start !== "resume") await prepareTarget(target, mark);
  const ends: Ends = { source: from, target: await ownedForMove(target) };
  const tables = await movedTables(from);
  const total = Object.values(plan.rows).reduce((sum, n) => sum + n, 0);

  const copied = (await overTables(ends, tables, true, (what, done) => tell({ what, done, total: 2 * total }))).copied;
  await copyNumbers(ends, tables);
  const compared = await overTables(ends, tables, false, (what, done) =>
    tell({ what, done: total + done, total: 2 * total }),
  );
  if (compared.differing.length > 0)
    throw integrity(
      `After the copy ${compared.differing.join(", ")} differ: run the same command again; the memory that was to be moved is as it was.`,
    );
  const replayed = scratch && (await replayCopy(target, scratch, tell));
  await refuseOthers(source, "was moved");
  if ((await historyMark(from)) !== mark)
    throw unavailable(
      "The memory was changed while it was being moved: run the same command again, which starts anew.",
    );
  await target.maintain?.("light");
  await dropMoveMark(ends.target);
  return { ...plan, copied, compared: compared.rows, replayed: replayed?.events };
}

/** Takes away what an earlier attempt or an empty memory left there, so that the copy is the source and nothing else. */
async function prepareTarget(target: Db, mark: string): Promise<void> {
  // Before anything is made or removed: a target in this state is an unfinished move, and nothing that could be served.
  await writeMoveMark(await ownedForMove(target), "");
  if (await isMigrated(target)) {
    const { migrateDown } = await import("../../store/schema/chain.ts");
    await migrateDown(target);
  }
  await migrateForMove(target);
  await writeMoveMark(await ownedForMove(target), mark);
}

async function overTables(
  ends: Ends,
  tables: readonly MovedTable[],
  copy: boolean,
  tell: (what: string, done: number) => void,
): Promise<{ rows: number; copied: number; differing: string[] }> {
  const sum = { rows: 0, copied: 0, differing: [] as string[] };
  for (const table of tables) {
    const what = `${copy ? "copying" : "comparing"} ${table.name.replaceAll("_", " ")}`;
    const so = await syncTable(ends, table, copy, (rows) => tell(what, sum.rows + rows));
    sum.rows += so.rows;
    sum.copied += so.copied;
    if (so.differing.length > 0) sum.differing.push(table.name);
    if (!copy && table.sequence && !(await sameNumber(ends, table.sequence))) sum.differing.push(table.sequence);
  }
  return sum;
}

async function copyNumbers({ source, target }: Ends, tables: readonly MovedTable[]): Promise<void> {
  for (const { sequence } of tables)
    if (sequence !== undefined) await setLastNumber(target, sequence, await lastNumber(source, sequence));
}

const sameNumber = async ({ source, target }: Ends, sequence: string): Promise<boolean> =>
  (await lastNumber(source, sequence)) === (await lastNumber(target, sequence));

async function replayCopy(target: Db, scratch: () => Promise<Db>, tell: MoveProgress): Promise<ReplayReport> {
  const { roles } = await readAccess(target);
  const report = await verifyInScratch(asOwnerOf(target, roles, "replay"), scratch, tell);
  if (report.equal) return report;
  throw integrity(
    `The copy is the same row by row, but its rows do not follow from its events: "butler replay --verify" shows where, on the memory that was to be moved. Move it all the same with --skip-replay.`,
  );
}
