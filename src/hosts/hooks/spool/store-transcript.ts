/**
 * Stores the new exchanges of an announced transcript as episodes. Each exchange has an idempotency key, so reading one again stores nothing
 * twice; how far a transcript was read is written down after its episodes are stored.
 */

import { lstatSync } from "node:fs";
import type { Home } from "../../../daemon/home.ts";
import type { Clock } from "../../../engine/adapters/clock.ts";
import type { Log } from "../../../engine/adapters/log.ts";
import { isMissing } from "../../../engine/domain/errors.ts";
import { type EpisodeRow, episodeOf } from "../../transcripts/episodes.ts";
import { isTranscriptAgent, readExchanges } from "../../transcripts/read.ts";
import { UNFIT_FILE, UnfitFile } from "../../transcripts/regular-file.ts";
import { faultOf } from "../fault.ts";
import { afterFailure, isDue, spoolRow } from "./rows.ts";
import { type Announced, type Progress, readAnnounced, readProgress, writeProgress } from "./sessions.ts";
import { type Ingest, IngestRefused, storeRows, UNAVAILABLE } from "./store-rows.ts";

export interface TranscriptParts {
  readonly home: Home;
  readonly clock: Clock;
  readonly log: Log;
  readonly ingest: Ingest;
  /** A session has ended and all of its exchanges are stored. */
  ended?(entry: Announced, episodes: number): void;
  /** A transcript whose session never said that it ended counts as ended after this long without a new line. */
  readonly quietMs: number;
  readonly signal: AbortSignal;
  /** Awaited before a transcript is read and before each of its batches is stored. */
  wayIsClear?(): Promise<void>;
}

const BATCH = 20;

/** One transcript while it is being read. */
interface Reading {
  readonly key: string;
  readonly entry: Announced;
  progress: Progress;
}

interface BatchRow {
  readonly row: EpisodeRow;
  /** Where in the transcript a later reading goes on once this row is stored. */
  readonly next: number;
}

export async function storeTranscript(parts: TranscriptParts, key: string): Promise<void> {
  const { home, log, signal } = parts;
  await parts.wayIsClear?.();
  const entry = readAnnounced(home, key);
  const size = entry && sizeOf(entry.transcript);
  const agent = entry?.agent ?? "";
  if (!entry || size === undefined || !isTranscriptAgent(agent)) return;
  const reading: Reading = { key, entry, progress: { ...progressOf(home, key), trouble: undefined } };
  const final = entry.working !== true || isQuiet(parts, entry);
  const exchanges = readExchanges({
    agent,
    path: entry.transcript,
    from: reading.progress.offset,
    final,
    signal,
    spoiled: () => log.error({ agent, session: key }, "an exchange of a transcript cannot be made out and is left out"),
  });
  let batch: BatchRow[] = [];
  for await (const exchange of exchanges) {
    batch.push({ row: episodeOf(exchange, aboutOf(entry)), next: exchange.next });
    if (batch.length < BATCH) continue;
    await storeBatch(parts, reading, batch);
    batch = [];
  }
  if (signal.aborted) return;
  await storeBatch(parts, reading, batch);
  const { progress } = reading;
  writeProgress(home, key, { ...progress, size: final ? size : progress.offset, mark: entry.mark });
  if (entry.ended) parts.ended?.(entry, progress.episodes);
}

async function storeBatch(parts: TranscriptParts, reading: Reading, batch: readonly BatchRow[]): Promise<void> {
  const last = batch.at(-1);
  if (!last) return;
  await parts.wayIsClear?.();
  const { key, entry, progress } = reading;
  const rows = batch.map(({ row }) => row);
  const failed = await storeOrLeave(parts, entry, rows);
  reading.progress = { ...progress, offset: last.next, episodes: progress.episodes + rows.length - failed };
  writeProgress(parts.home, key, reading.progress);
}

/** How many could not be stored: each of those is left in the spool as a row of its own, and the reading goes on. */
async function storeOrLeave(parts: TranscriptParts, entry: Announced, rows: readonly EpisodeRow[]): Promise<number> {
  const { home, clock, log } = parts;
  const { by, butler, project } = entry;
  const verdicts = await storeRows(parts.ingest, entry, rows);
  const failed = rows.flatMap((row, at) => {
    const verdict = verdicts[at];
    return verdict ? [{ ...verdict, row }] : [];
  });
  // When every row fails, the fault is the memory's and not a row's.
  if (failed.length === rows.length && failed.some(({ final }) => !final))
    throw new IngestRefused(failed[0]?.code ?? "");
  for (const { code, row } of failed) {
    log.warn({ butler, reason: code }, "an exchange of a transcript cannot be stored and waits by itself");
    spoolRow(home, { by, butler, project, row, trouble: afterFailure(undefined, code, clock.now()) });
  }
  return failed.length;
}

/**
 * A failed transcript is tried again after a pause that grows, or with the next sweep where only the memory is down. A path that holds no
 * regular file is not tried again before its session is announced anew.
 */
export function transcriptFailed({ home, clock, log }: TranscriptParts, key: string, error: unknown): void {
  const code = faultOf(error);
  const entry = readAnnounced(home, key);
  log.warn({ session: key, butler: entry?.butler, reason: code }, "a transcript could not be taken in");
  if (code === UNAVAILABLE) return;
  try {
    const before = progressOf(home, key);
    const trouble = afterFailure(before.trouble, code, clock.now());
    const mark = error instanceof UnfitFile && entry ? entry.mark : before.mark;
    writeProgress(home, key, { ...before, mark, trouble });
  } catch (failure) {
    log.error({ reason: faultOf(failure) }, "the spool cannot be written");
  }
}

/**
 * Whether there is something to read: the last announcement was not followed yet, or the transcript has grown since and is quiet, because its
 * agent was killed. `settling`: its agent may still be writing, and it will be read in a moment anyway.
 */
export function needsReading(parts: TranscriptParts, key: string, settling: boolean): boolean {
  const { home, clock } = parts;
  const entry = readAnnounced(home, key);
  if (!entry) return false;
  const progress = readProgress(home, key);
  if (!isDue(progress?.trouble, clock.now())) return false;
  if (progress?.mark !== entry.mark && (entry.ended || (entry.working === false && !settling))) return true;
  if (progress?.trouble?.code === UNFIT_FILE) return false;
  const size = sizeOf(entry.transcript);
  return size !== undefined && size !== progress?.size && isQuiet(parts, entry);
}

const progressOf = (home: Home, key: string): Progress =>
  readProgress(home, key) ?? { offset: 0, mark: "", size: 0, episodes: 0 };

function isQuiet({ clock, quietMs }: TranscriptParts, { transcript }: Announced): boolean {
  const stat = lstatSync(transcript, { throwIfNoEntry: false });
  return stat !== undefined && clock.now().getTime() - stat.mtimeMs >= quietMs;
}

function aboutOf({ agent, session, folder, project }: Announced) {
  return { agent, session, folder, ...(project === undefined ? {} : { project }) };
}

/** Of a symbolic link its own size, not that of its target. */
function sizeOf(file: string): number | undefined {
  try {
    return lstatSync(file).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
