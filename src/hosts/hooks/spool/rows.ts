/** Exchanges that wait to be stored, a file each, so that a faulty one holds up no other. */
import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../../../daemon/home.ts";
import type { EpisodeRow } from "../../transcripts/episodes.ts";
import { type By, failedFolder, isBy, namesEnding, readJson, writeJson } from "./files.ts";

/** One row of `memory_ingest_batch` that waits. */
export interface WaitingRow {
  readonly by: By;
  readonly butler: string;
  readonly project?: string | undefined;
  readonly row: EpisodeRow;
  readonly trouble?: Trouble | undefined;
}

/** The failed attempts so far. */
export interface Trouble {
  readonly attempts: number;
  /** Of the last failure. Its message is not kept: it may quote what was refused. */
  readonly code: string;
  /** ISO time before which it is not tried again. */
  readonly retry_at: string;
}

const ROW = ".row.json";
/** Within about four hours; then the row is moved to the failed ones, which `butler doctor` and `butler spool` show. */
const MOST_ATTEMPTS = 9;
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 60 * 60_000;

/** One more failure, and when to try again. */
export function afterFailure(before: Trouble | undefined, code: string, now: Date): Trouble {
  const attempts = (before?.attempts ?? 0) + 1;
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempts - 1, 10));
  return { attempts, code, retry_at: new Date(now.getTime() + pause).toISOString() };
}

export const isDue = (trouble: Trouble | undefined, now: Date): boolean =>
  trouble === undefined || now.toISOString() >= trouble.retry_at;

export function spoolRow(home: Home, waiting: WaitingRow): void {
  writeJson(home.spool, `${randomUUID()}${ROW}`, waiting);
}

export const waitingRows = (home: Home): string[] => namesEnding(home.spool, ROW);

/** Undefined: the file is gone, or its content or author cannot be read. */
export function readRow(home: Home, name: string): WaitingRow | undefined {
  const found = readJson<WaitingRow>(home.spool, `${name}${ROW}`);
  return isBy(found?.by) && typeof found.butler === "string" && typeof found.row === "object" ? found : undefined;
}

export const removeRow = (home: Home, name: string): void => rmSync(join(home.spool, `${name}${ROW}`), { force: true });

/** `final`: the row can never be stored. */
export function rowFailed(home: Home, name: string, left: WaitingRow, code: string, now: Date, final: boolean): void {
  const trouble = afterFailure(left.trouble, code, now);
  writeJson(home.spool, `${name}${ROW}`, { ...left, trouble });
  if (final || trouble.attempts >= MOST_ATTEMPTS) moveToFailed(home, name);
}

/** The file is moved as it is, also one that cannot be read. */
export function moveToFailed(home: Home, name: string): void {
  mkdirSync(failedFolder(home), { recursive: true, mode: 0o700 });
  renameSync(join(home.spool, `${name}${ROW}`), join(failedFolder(home), `${name}${ROW}`));
}

export interface FailedRow {
  readonly name: string;
  /** Undefined where the file cannot be read. */
  readonly butler: string | undefined;
  readonly code: string;
  readonly attempts: number;
  readonly said_at: string | undefined;
}

export const failedRows = (home: Home): FailedRow[] =>
  namesEnding(failedFolder(home), ROW).map((name) => {
    const found: Partial<WaitingRow> = readJson<WaitingRow>(failedFolder(home), `${name}${ROW}`) ?? {};
    const said = found.row?.occurred_at;
    return {
      name,
      butler: isBy(found.by) ? found.butler : undefined,
      code: found.trouble?.code ?? "unreadable",
      attempts: found.trouble?.attempts ?? 0,
      said_at: typeof said === "string" ? said : undefined,
    };
  });

/** Makes the failed rows that can be read wait again as if they were new; returns how many. */
export function retryFailed(home: Home): number {
  const readable = failedRows(home).filter(({ butler }) => butler !== undefined);
  for (const { name } of readable) {
    const { trouble: _, ...left } = readJson<WaitingRow>(failedFolder(home), `${name}${ROW}`) as WaitingRow;
    writeJson(home.spool, `${name}${ROW}`, left);
    rmSync(join(failedFolder(home), `${name}${ROW}`), { force: true });
  }
  return readable.length;
}
