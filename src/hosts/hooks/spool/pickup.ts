/** Reads the spool in the background of the owner: announced transcripts, a few at a time, and the exchanges that wait as rows. */

import { faultOf } from "../fault.ts";
import { announcedKeys, tidySpool } from "./sessions.ts";
import { needsReading, storeTranscript, type TranscriptParts, transcriptFailed } from "./store-transcript.ts";
import { storeWaitingRows } from "./store-waiting.ts";
import { openWay } from "./way.ts";

export interface PickupParts extends Omit<TranscriptParts, "quietMs" | "signal" | "wayIsClear"> {
  /** An agent writes its last lines while its hook already runs. */
  readonly settleMs?: number;
  readonly quietMs?: number;
  readonly everyMs?: number;
}

export interface Pickup {
  /** Sweeps at once, for what earlier owners left, and then at intervals. */
  start(): void;
  /** This session has just been announced. */
  soon(key: string): void;
  /** An exchange was left as a row. */
  rowsSoon(): void;
  /** Somebody waits for the answer to a prompt, or has just had it: reading gives way for a moment. */
  heard(): void;
  /** Stores whatever waits; resolves when it is done. */
  sweep(): Promise<void>;
  busy(): boolean;
  stop(): Promise<void>;
}

const SETTLE_MS = 700;
const QUIET_MS = 10 * 60_000;
const EVERY_MS = 60_000;
/** Transcripts read at a time: an owner that starts with hundreds of them goes on answering. */
const AT_ONCE = 2;

interface PickupState {
  readonly transcripts: TranscriptParts;
  readonly settleMs: number;
  readonly stopped: AbortController;
  /** Sessions that were announced less than `settleMs` ago, by their keys. */
  readonly settling: Map<string, NodeJS.Timeout>;
  readonly queue: string[];
  readonly reading: Map<string, Promise<void>>;
  /** The last round over the rows, while it runs or waits for the one before. */
  rows: Promise<void> | undefined;
}

export function createPickup(parts: PickupParts): Pickup {
  const stopped = new AbortController();
  const way = openWay(stopped.signal);
  const state: PickupState = {
    transcripts: {
      ...parts,
      quietMs: parts.quietMs ?? QUIET_MS,
      signal: stopped.signal,
      wayIsClear: way.clear,
    },
    settleMs: parts.settleMs ?? SETTLE_MS,
    stopped,
    settling: new Map(),
    queue: [],
    reading: new Map(),
    rows: undefined,
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      tidyAndSweep(state);
      timer = setInterval(() => tidyAndSweep(state), parts.everyMs ?? EVERY_MS).unref();
    },
    soon: (key) => enqueueSettled(state, key),
    rowsSoon: () => void storeRowsInTurn(state),
    heard: way.heard,
    sweep: () => sweep(state),
    busy: () => state.settling.size + state.queue.length + state.reading.size > 0 || state.rows !== undefined,
    stop() {
      clearInterval(timer);
      return stop(state);
    },
  };
}

function tidyAndSweep(state: PickupState): void {
  const { home, clock, log } = state.transcripts;
  tidySpool(home, clock.now());
  void sweep(state).catch((error: unknown) => log.error({ reason: faultOf(error) }, "the spool cannot be looked at"));
}

async function sweep(state: PickupState): Promise<void> {
  for (const key of announcedKeys(state.transcripts.home)) if (isWanted(state, key)) enqueue(state, key);
  await storeRowsInTurn(state);
  while (state.reading.size > 0) await Promise.all(state.reading.values());
}

/** A transcript that cannot even be looked at does not end the sweep over the others. */
function isWanted({ transcripts, settling }: PickupState, key: string): boolean {
  try {
    return needsReading(transcripts, key, settling.has(key));
  } catch (error) {
    transcriptFailed(transcripts, key, error);
    return false;
  }
}

function enqueueSettled(state: PickupState, key: string): void {
  const { settling, stopped, settleMs } = state;
  clearTimeout(settling.get(key));
  if (stopped.signal.aborted) return;
  const later = setTimeout(() => {
    settling.delete(key);
    enqueue(state, key);
  }, settleMs);
  settling.set(key, later);
}

function enqueue(state: PickupState, key: string): void {
  if (state.stopped.signal.aborted || state.queue.includes(key)) return;
  state.queue.push(key);
  readNext(state);
}

/** A transcript that is being read is read once more afterwards, never twice at a time. */
function readNext(state: PickupState): void {
  const { transcripts, stopped, queue, reading } = state;
  while (reading.size < AT_ONCE) {
    const key = queue.find((candidate) => !reading.has(candidate));
    if (key === undefined || stopped.signal.aborted) return;
    queue.splice(queue.indexOf(key), 1);
    const work = storeTranscript(transcripts, key)
      .catch((error: unknown) => transcriptFailed(transcripts, key, error))
      .finally(() => {
        reading.delete(key);
        readNext(state);
      });
    reading.set(key, work);
  }
}

/** A row that is left while others are being stored is stored by a round of its own. */
function storeRowsInTurn(state: PickupState): Promise<void> {
  const { home, log, ingest, clock, signal } = state.transcripts;
  const turn = (state.rows ?? Promise.resolve())
    .then(() => storeWaitingRows({ home, log, ingest, now: clock.now, signal }))
    .catch((error: unknown) => log.warn({ reason: faultOf(error) }, "exchanges that wait could not be stored yet"))
    .finally(() => {
      if (state.rows === turn) state.rows = undefined;
    });
  state.rows = turn;
  return turn;
}

async function stop(state: PickupState): Promise<void> {
  state.stopped.abort();
  for (const later of state.settling.values()) clearTimeout(later);
  state.settling.clear();
  state.queue.length = 0;
  await Promise.all(state.reading.values());
  await state.rows;
}
