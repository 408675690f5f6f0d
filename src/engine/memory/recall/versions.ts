/**
 * Which vectors a process may compare and which it writes. After a change of model the old version goes on answering
 * until the new one is complete, as long as its weights are at hand; what is written meanwhile gets a vector of both.
 */
import type { Clock } from "../../adapters/clock.ts";
import type { Db } from "../../adapters/db/port.ts";
import type { Embedder, ModelVersion } from "../../adapters/embedder/port.ts";
import type { Log } from "../../adapters/log.ts";
import { enrolVersion, readVersions, shareRebuilt, type VersionRow } from "../../store/index/reembed.ts";

/** A row of `embedding_versions` and the model that makes its vectors. */
export interface Side {
  readonly version: number;
  readonly embedder: Embedder;
}

export interface EmbeddingVersions {
  /** The model that this process was given. */
  readonly own: Side | undefined;
  /** The version that `own` is about to replace; undefined when nothing is being rebuilt. */
  readonly replacing: number | undefined;
  /** What queries are embedded with and compared to. */
  readonly serving: Side | undefined;
  /** What each new memory gets a vector of. */
  readonly written: readonly Side[];
  /** Why search by meaning is less than it could be. */
  readonly degraded: string | undefined;
  adopt(embedder: Embedder): Promise<void>;
  /** Looks at what other processes, or a job of this one, have made of the versions. */
  refresh(): Promise<void>;
  /** False when a version was retired while an answer was made from it: its vectors may have been half deleted. */
  stillServes(version: number): Promise<boolean>;
  /** Frees the weights of versions that nothing has used since the last time. */
  letGo(): Promise<void>;
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
  readonly own: Side | undefined;
  readonly replacing: number | undefined;
  readonly serving: Side | undefined;
  readonly written: readonly Side[];
  readonly degraded: string | undefined;
}

const NONE: State = { own: undefined, replacing: undefined, serving: undefined, written: [], degraded: undefined };

export function openVersions(parts: VersionsParts): EmbeddingVersions {
  const { db, log } = parts;
  let state = NONE;
  let own: Side | undefined;
  const olds = new Map<number, Promise<Side | undefined>>();

  function oldSide(row: VersionRow): Promise<Side | undefined> {
    const known = olds.get(row.id) ?? openOld(row);
    olds.set(row.id, known);
    return known;
  }

  async function openOld(row: VersionRow): Promise<Side | undefined> {
    try {
      const embedder = await parts.previous?.(row);
      return embedder && { version: row.id, embedder };
    } catch (error) {
      log.warn({ err: error }, "the previous embedding model could not be opened");
      return undefined;
    }
  }

  async function look(mine: Side): Promise<State> {
    const rows = await readVersions(db);
    const row = rows.find(({ id }) => id === mine.version);
    const other = rows.find(({ id, state }) => id !== mine.version && state === "serving");
    if (row?.state === "retired" || row === undefined) {
      const by = other === undefined ? "another model" : `${other.model} ${other.variant}`;
      const degraded = `another process has rebuilt the embeddings with ${by}: results are by keyword only. Use that model here too, or restart to rebuild them with this one.`;
      return { ...NONE, own: mine, degraded };
    }
    if (row.state === "serving" || other === undefined)
      return { ...NONE, own: mine, serving: mine, written: [mine], replacing: undefined };
    const old = await oldSide(other);
    if (old) return { ...NONE, own: mine, serving: old, written: [old, mine], replacing: other.id };
    // Whole per cents, and never 100 before it is done.
    const share = Math.min(99, Math.floor((await shareRebuilt(db, mine.version, other.id)) * 100));
    const degraded = `embeddings ${share} % rebuilt after a change of model: until they are, search by meaning misses the rest; keywords find everything.`;
    return { ...NONE, own: mine, serving: mine, written: [mine], replacing: other.id, degraded };
  }

  async function refresh(): Promise<void> {
    if (own) state = await look(own);
  }

  async function closeOld(version: number): Promise<void> {
    const old = olds.get(version);
    olds.delete(version);
    await (await old)?.embedder.close();
  }

  return {
    get own() {
      return state.own;
    },
    get replacing() {
      return state.replacing;
    },
    get serving() {
      return state.serving;
    },
    get written() {
      return state.written;
    },
    get degraded() {
      return state.degraded;
    },
    refresh,
    async adopt(embedder) {
      own = { version: await enrolVersion(db, embedder.version, parts.clock.now()), embedder };
      await refresh();
    },
    async stillServes(version) {
      if (version !== state.serving?.version) return false;
      if (version === state.own?.version) return true;
      await refresh();
      return version === state.serving?.version;
    },
    async letGo() {
      const used = state.replacing;
      for (const version of [...olds.keys()]) if (version !== used) await closeOld(version);
    },
    async close() {
      for (const version of [...olds.keys()]) await closeOld(version);
    },
  };
}
