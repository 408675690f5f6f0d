/**
 * Turns announced transcripts into episodes, in the owner and in the background. Each exchange has its key, so reading one again stores
 * nothing twice; how far a transcript was read is written down after its episodes are.
 */

import { lstatSync } from "node:fs";
import type { Home } from "../../daemon/home.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { isMissing } from "../../engine/domain/errors.ts";
import { type EpisodeRow, episodeOf } from "../transcripts/episodes.ts";
import { readExchanges, TRANSCRIPT_AGENTS, type TranscriptAgent } from "../transcripts/read.ts";
import { UNFIT_FILE, UnfitFile } from "../transcripts/regular-file.ts";
import { faultOf } from "./fault.ts";
import {
  type Announced,
  announcedKeys,
  type Progress,
  readAnnounced,
  readProgress,
  tidySpool,
  writeProgress,
} from "./spool.ts";
import { afterFailure, isDue, leaveRow } from "./spool-rows.ts";
import { type Ingest, NotTaken, storeRows, UNAVAILABLE } from "./store-rows.ts";
import { takeRows } from "./take-rows.ts";

export interface PickupParts {
  readonly home: Home;
  readonly clock: Clock;
  readonly log: Log;
  readonly ingest: Ingest;
  /** A session has said its last word and everything of it is stored. */
  ended?(entry: Announced, episodes: number): void;
  /** An agent writes its last lines while its hook already runs. */
  readonly settleMs?: number;
  /** A transcript that nobody closed counts as closed after this long without a new line. */
  readonly quietMs?: number;
  readonly everyMs?: number;
}

export interface Pickup {
  /** Looks at what was left by earlier owners, and then once in a while. */
  start(): void;
  /** This session has just been announced. */
  soon(key: string): void;
  /** An exchange was left as a row. */
  rowsSoon(): void;
  /** Reads whatever waits; resolves when it is done. */
  sweep(): Promise<void>;
  busy(): boolean;
  stop(): Promise<void>;
}

export const readable = (agent: string): agent is TranscriptAgent => TRANSCRIPT_AGENTS.some((known) => known === agent);

const SETTLE_MS = 700;
const QUIET_MS = 10 * 60_000;
const EVERY_MS = 60_000;
const BATCH = 20;
/** Transcripts read at a time: an owner that starts with hundreds of them goes on answering. */
const AT_ONCE = 2;

export function createPickup(parts: PickupParts): Pickup {
  const { home, clock, log, settleMs = SETTLE_MS, quietMs = QUIET_MS, everyMs = EVERY_MS } = parts;
  const stopped = new AbortController();
  const waiting = new Map<string, NodeJS.Timeout>();
  const queue: string[] = [];
  const underWay = new Map<string, Promise<void>>();
  let rows: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  function enqueue(key: string): void {
    if (stopped.signal.aborted || queue.includes(key)) return;
    queue.push(key);
    next();
  }

  function next(): void {
    while (underWay.size < AT_ONCE) {
      const key = queue.find((candidate) => !underWay.has(candidate));
      if (key === undefined || stopped.signal.aborted) return;
      queue.splice(queue.indexOf(key), 1);
      const work = read(key)
        .catch((error: unknown) => troubled(key, error))
        .finally(() => {
          underWay.delete(key);
          next();
        });
      underWay.set(key, work);
    }
  }

  async function read(key: string): Promise<void> {
    const entry = readAnnounced(home, key);
    const size = entry && sizeOf(entry.transcript);
    const agent = entry?.agent ?? "";
    if (!entry || size === undefined || !readable(agent)) return;
    let progress = { ...progressOf(key), size, trouble: undefined };
    const batch: { row: EpisodeRow; next: number }[] = [];

    async function flush(): Promise<void> {
      const last = batch.at(-1);
      if (!entry || !last) return;
      const failed = await storeBatch(
        entry,
        batch.map(({ row }) => row),
      );
      progress = { ...progress, offset: last.next, episodes: progress.episodes + batch.length - failed };
      writeProgress(home, key, progress);
      batch.length = 0;
    }

    const exchanges = readExchanges({
      agent,
      path: entry.transcript,
      from: progress.offset,
      final: entry.working !== true || isQuiet(entry),
      signal: stopped.signal,
      spoiled: () =>
        log.error({ agent, session: key }, "an exchange of a transcript cannot be made out and is left out"),
    });
    for await (const exchange of exchanges) {
      batch.push({ row: episodeOf(exchange, aboutOf(entry)), next: exchange.next });
      if (batch.length >= BATCH) await flush();
    }
    if (stopped.signal.aborted) return;
    await flush();
    writeProgress(home, key, { ...progress, mark: entry.mark });
    if (entry.ended) parts.ended?.(entry, progress.episodes);
  }

  /** How many could not be stored. Each of those waits by itself from then on, and its transcript goes on without it. */
  async function storeBatch(entry: Announced, rows: readonly EpisodeRow[]): Promise<number> {
    const { by, butler, project } = entry;
    const verdicts = await storeRows(parts.ingest, entry, rows);
    const failed = rows.flatMap((row, at) => {
      const verdict = verdicts[at];
      return verdict ? [{ ...verdict, row }] : [];
    });
    // Every one of them: then it lies with the memory and not with a row.
    if (failed.length === rows.length && failed.some(({ final }) => !final)) throw new NotTaken(failed[0]?.code ?? "");
    for (const { code, row } of failed) {
      log.warn({ butler, reason: code }, "an exchange of a transcript cannot be stored and waits by itself");
      leaveRow(home, { by, butler, project, row, trouble: afterFailure(undefined, code, clock.now()) });
    }
    return failed.length;
  }

  function progressOf(key: string): Progress {
    return readProgress(home, key) ?? { offset: 0, mark: "", size: 0, episodes: 0 };
  }

  /**
   * Tried again after a pause that grows, or with the next look where only the memory is down. A path that holds no transcript at all is
   * not tried again before the session announces itself anew.
   */
  function troubled(key: string, error: unknown): void {
    const code = faultOf(error);
    const entry = readAnnounced(home, key);
    log.warn({ session: key, butler: entry?.butler, reason: code }, "a transcript could not be taken in");
    if (code === UNAVAILABLE) return;
    try {
      const before = progressOf(key);
      const trouble = afterFailure(before.trouble, code, clock.now());
      const mark = error instanceof UnfitFile && entry ? entry.mark : before.mark;
      writeProgress(home, key, { ...before, mark, trouble });
    } catch (failure) {
      log.error({ reason: faultOf(failure) }, "the spool cannot be written");
    }
  }

  const isQuiet = ({ transcript }: Announced): boolean => {
    const stat = lstatSync(transcript, { throwIfNoEntry: false });
    return stat !== undefined && clock.now().getTime() - stat.mtimeMs >= quietMs;
  };

  /** Announced and not answered, or grown since and quiet: whoever wrote it has gone without a word. */
  function wants(key: string): boolean {
    const entry = readAnnounced(home, key);
    if (!entry) return false;
    const progress = readProgress(home, key);
    if (!isDue(progress?.trouble, clock.now())) return false;
    if (progress?.mark !== entry.mark && (entry.ended || (entry.working === false && !waiting.has(key)))) return true;
    if (progress?.trouble?.code === UNFIT_FILE) return false;
    const size = sizeOf(entry.transcript);
    return size !== undefined && size !== progress?.size && isQuiet(entry);
  }

  /** Who leaves one while the others are being stored waits for the next round. */
  function rowsInTurn(): Promise<void> {
    const turn = (rows ?? Promise.resolve())
      .then(() => takeRows({ home, log, ingest: parts.ingest, now: clock.now, signal: stopped.signal }))
      .catch((error: unknown) => log.warn({ reason: faultOf(error) }, "exchanges that wait could not be stored yet"))
      .finally(() => {
        if (rows === turn) rows = undefined;
      });
    rows = turn;
    return turn;
  }

  /** A transcript that cannot even be looked at is one of many. */
  function wanted(key: string): boolean {
    try {
      return wants(key);
    } catch (error) {
      troubled(key, error);
      return false;
    }
  }

  async function sweep(): Promise<void> {
    for (const key of announcedKeys(home)) if (wanted(key)) enqueue(key);
    await rowsInTurn();
    while (underWay.size > 0) await Promise.all(underWay.values());
  }

  return {
    start() {
      const look = () => {
        tidySpool(home, clock.now());
        void sweep().catch((error: unknown) => log.error({ reason: faultOf(error) }, "the spool cannot be looked at"));
      };
      look();
      timer = setInterval(look, everyMs).unref();
    },
    soon(key) {
      clearTimeout(waiting.get(key));
      if (stopped.signal.aborted) return;
      const later = setTimeout(() => {
        waiting.delete(key);
        enqueue(key);
      }, settleMs);
      waiting.set(key, later);
    },
    rowsSoon: () => void rowsInTurn(),
    sweep,
    busy: () => waiting.size + queue.length + underWay.size > 0 || rows !== undefined,
    async stop() {
      stopped.abort();
      clearInterval(timer);
      for (const later of waiting.values()) clearTimeout(later);
      waiting.clear();
      queue.length = 0;
      await Promise.all(underWay.values());
      await rows;
    },
  };
}

function aboutOf({ agent, session, folder, project }: Announced) {
  return { agent, session, folder, ...(project === undefined ? {} : { project }) };
}

/** Of the file itself and not of what a link leads to. */
function sizeOf(file: string): number | undefined {
  try {
    return lstatSync(file).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
