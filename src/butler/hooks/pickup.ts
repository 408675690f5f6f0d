/**
 * Turns announced transcripts into episodes, in the owner and behind everybody's back. Each exchange has its key, so reading
 * one again stores nothing twice; how far a transcript was read is written down after its episodes are.
 */
import { statSync } from "node:fs";
import type { Clock } from "../../adapters/clock.ts";
import type { Log } from "../../adapters/log.ts";
import type { Outcome } from "../../tools/outcome.ts";
import { type Home, isMissing, reasonOf } from "../home.ts";
import { episodeOf } from "../transcripts/episodes.ts";
import { readExchanges, TRANSCRIPT_AGENTS, type TranscriptAgent } from "../transcripts/read.ts";
import {
  type Announced,
  announcedKeys,
  type By,
  dropRow,
  type Progress,
  readAnnounced,
  readProgress,
  readRow,
  tidySpool,
  waitingRows,
  writeProgress,
} from "./spool.ts";

type Source = Pick<Announced, "by" | "butler" | "project">;

export interface PickupParts {
  readonly home: Home;
  readonly clock: Clock;
  readonly log: Log;
  /** Under whoever said it. */
  ingest(
    by: By,
    butler: string,
    project: string | undefined,
    rows: readonly Record<string, unknown>[],
  ): Promise<Outcome>;
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
/** Transcripts read at a time: a house that wakes up to hundreds of them goes on answering. */
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
        .catch((error: unknown) => log.warn({ reason: reasonOf(error) }, "a transcript could not be taken in yet"))
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
    const before = readProgress(home, key);
    let progress: Progress = {
      offset: before?.offset ?? 0,
      mark: before?.mark ?? "",
      size,
      episodes: before?.episodes ?? 0,
    };
    const batch: { row: Record<string, unknown>; next: number }[] = [];

    async function flush(): Promise<void> {
      const last = batch.at(-1);
      if (!entry || !last) return;
      await store(
        entry,
        batch.map(({ row }) => row),
      );
      progress = { ...progress, offset: last.next, episodes: progress.episodes + batch.length };
      writeProgress(home, key, progress);
      batch.length = 0;
    }

    const exchanges = readExchanges({
      agent,
      path: entry.transcript,
      from: progress.offset,
      final: entry.working !== true || isQuiet(entry),
      signal: stopped.signal,
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

  async function store({ by, butler, project }: Source, batch: readonly Record<string, unknown>[]) {
    const outcome = await parts.ingest(by, butler, project, batch);
    if (!outcome.ok) throw new Error(outcome.error.message);
    const results = (outcome.answer.results ?? []) as { ok: boolean; error?: { code: string; message: string } }[];
    // A conflict: the exchange is known, from a session that this one goes on from or when less of it was written.
    for (const { ok, error } of results)
      if (!ok && error?.code !== "conflict")
        log.warn({ butler, reason: error?.message }, "an exchange of a transcript cannot be stored");
  }

  const isQuiet = ({ transcript }: Announced): boolean => {
    const stat = statSync(transcript, { throwIfNoEntry: false });
    return stat !== undefined && clock.now().getTime() - stat.mtimeMs >= quietMs;
  };

  /** Announced and not answered, or grown since and quiet: whoever wrote it has gone without a word. */
  function wants(key: string): boolean {
    const entry = readAnnounced(home, key);
    if (!entry) return false;
    const progress = readProgress(home, key);
    if (progress?.mark !== entry.mark && (entry.ended || (entry.working === false && !waiting.has(key)))) return true;
    const size = sizeOf(entry.transcript);
    return size !== undefined && size !== progress?.size && isQuiet(entry);
  }

  async function flushRows(): Promise<void> {
    for (const name of waitingRows(home)) {
      if (stopped.signal.aborted) return;
      const left = readRow(home, name);
      if (left) await store(left, [left.row]);
      dropRow(home, name);
    }
  }

  /** Who leaves one while the others are being stored waits for the next round. */
  function storeRows(): Promise<void> {
    const turn = (rows ?? Promise.resolve())
      .then(flushRows)
      .catch((error: unknown) => log.warn({ reason: reasonOf(error) }, "exchanges that wait could not be stored yet"))
      .finally(() => {
        if (rows === turn) rows = undefined;
      });
    rows = turn;
    return turn;
  }

  async function sweep(): Promise<void> {
    for (const key of announcedKeys(home)) if (wants(key)) enqueue(key);
    await storeRows();
    while (underWay.size > 0) await Promise.all(underWay.values());
  }

  return {
    start() {
      const look = () => {
        tidySpool(home, clock.now());
        void sweep().catch((error: unknown) => log.error({ reason: reasonOf(error) }, "the spool cannot be looked at"));
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
    rowsSoon: () => void storeRows(),
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

function sizeOf(file: string): number | undefined {
  try {
    return statSync(file).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
