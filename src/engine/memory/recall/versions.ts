/**
 * Which vectors a process may compare and which it writes. After a change of model the old version goes on serving until the
 * new one is complete, if its weights are still on disk; memories that are written meanwhile get a vector of both.
 */
import type { Clock } from "../../adapters/clock.ts";
import type { Db } from "../../adapters/db/port.ts";
import type { Embedder, ModelVersion } from "../../adapters/embedder/port.ts";
import type { Log } from "../../adapters/log.ts";
import { enrolVersion, readVersions, shareRebuilt, type VersionRow } from "../../store/index/reembed.ts";

/** A row of `embedding_versions` and the model that makes its vectors. */
export interface VersionedEmbedder {
  readonly version: number;
  readonly embedder: Embedder;
}

/** What a process knows of the versions since it last read them. */
interface VersionsInUse {
  /** The model that this process was given. */
  readonly own: VersionedEmbedder | undefined;
  /** The version that `own` is about to replace; undefined when nothing is being rebuilt. */
  readonly replacing: number | undefined;
  /** What queries are embedded with and compared to. */
  readonly serving: VersionedEmbedder | undefined;
  /** What each new memory gets a vector of. */
  readonly written: readonly VersionedEmbedder[];
  /** Why search by meaning is limited, if it is. */
  readonly degraded: string | undefined;
}

export interface EmbeddingVersions extends VersionsInUse {
  adopt(embedder: Embedder): Promise<void>;
  /** Reads again what other processes, or a job of this one, have made of the versions. */
  refresh(): Promise<void>;
  /** False when a version was retired while an answer was made from it: its vectors may have been half deleted. */
  stillServes(version: number): Promise<boolean>;
  /** Frees the weights of older versions that are no longer being replaced. */
  closeUnused(): Promise<void>;
  close(): Promise<void>;
}

export interface VersionsParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  /** The model of an older version, if its files are still there; closed by us. */
  readonly previous?: ((version: ModelVersion) => Promise<Embedder | undefined>) | undefined;
}

interface State {
  readonly parts: VersionsParts;
  own: VersionedEmbedder | undefined;
  inUse: VersionsInUse;
  /** The models of older versions, by version. Undefined where none could be opened. */
  readonly older: Map<number, Promise<VersionedEmbedder | undefined>>;
}

const NONE: VersionsInUse = {
  own: undefined,
  replacing: undefined,
  serving: undefined,
  written: [],
  degraded: undefined,
};

export function openVersions(parts: VersionsParts): EmbeddingVersions {
  const state: State = { parts, own: undefined, inUse: NONE, older: new Map() };
  return {
    get own() {
      return state.inUse.own;
    },
    get replacing() {
      return state.inUse.replacing;
    },
    get serving() {
      return state.inUse.serving;
    },
    get written() {
      return state.inUse.written;
    },
    get degraded() {
      return state.inUse.degraded;
    },
    adopt: (embedder) => adopt(state, embedder),
    refresh: () => refresh(state),
    stillServes: (version) => stillServes(state, version),
    closeUnused: () => closeOlder(state, state.inUse.replacing),
    close: () => closeOlder(state),
  };
}

async function adopt(state: State, embedder: Embedder): Promise<void> {
  const { db, clock } = state.parts;
  state.own = { version: await enrolVersion(db, embedder.version, clock.now()), embedder };
  await refresh(state);
}

async function refresh(state: State): Promise<void> {
  if (state.own) state.inUse = await readInUse(state, state.own);
}

async function stillServes(state: State, version: number): Promise<boolean> {
  if (version !== state.inUse.serving?.version) return false;
  if (version === state.inUse.own?.version) return true;
  await refresh(state);
  return version === state.inUse.serving?.version;
}

async function readInUse(state: State, own: VersionedEmbedder): Promise<VersionsInUse> {
  const { db } = state.parts;
  const rows = await readVersions(db);
  const row = rows.find(({ id }) => id === own.version);
  const other = rows.find(({ id, state }) => id !== own.version && state === "serving");
  if (row?.state === "retired" || row === undefined) {
    const by = other === undefined ? "another model" : `${other.model} ${other.variant}`;
    const degraded = `another process has rebuilt the embeddings with ${by}: results are by keyword only. Use that model here too, or restart to rebuild them with this one.`;
    return { ...NONE, own, degraded };
  }
  if (row.state === "serving" || other === undefined) return { ...NONE, own, serving: own, written: [own] };
  const old = await olderVersion(state, other);
  if (old) return { ...NONE, own, serving: old, written: [old, own], replacing: other.id };
  // Whole per cents, and never 100 before it is done.
  const share = Math.min(99, Math.floor((await shareRebuilt(db, own.version, other.id)) * 100));
  const degraded = `embeddings ${share} % rebuilt after a change of model: until they are, search by meaning misses the rest; keywords find everything.`;
  return { own, serving: own, written: [own], replacing: other.id, degraded };
}

function olderVersion(state: State, row: VersionRow): Promise<VersionedEmbedder | undefined> {
  const known = state.older.get(row.id) ?? openOlder(state.parts, row);
  state.older.set(row.id, known);
  return known;
}

async function openOlder({ previous, log }: VersionsParts, row: VersionRow): Promise<VersionedEmbedder | undefined> {
  try {
    const embedder = await previous?.(row);
    return embedder && { version: row.id, embedder };
  } catch (error) {
    log.warn({ err: error }, "the previous embedding model could not be opened");
    return undefined;
  }
}

async function closeOlder({ older }: State, except?: number): Promise<void> {
  for (const version of [...older.keys()]) {
    if (version === except) continue;
    const opening = older.get(version);
    older.delete(version);
    await (await opening)?.embedder.close();
  }
}
