/** Wraps a memory so that every embedding and every statement is timed under the name of what it does. */
import type { Db, Sql } from "../engine/adapters/db/port.ts";
import { wrapDb } from "../engine/adapters/db/wrap.ts";
import type { Memory } from "../engine/memory/memory.ts";
import type { EmbeddingVersions, VersionedEmbedder } from "../engine/memory/recall/versions.ts";

export interface Stopwatch {
  readonly memory: Memory;
  /**
   * Since the last call of this: milliseconds by step, the single embedding times, and the milliseconds in which an embedding
   * or a statement was under way before an answer. The rest of a call is spent in JavaScript.
   */
  take(): { steps: Map<string, number>; embeds: number[]; covered: number };
  /** Steps from now on belong to what follows an answer. */
  afterwards(on: boolean): void;
}

/** By the first words that tell a statement apart. */
const NAMES: readonly [RegExp, string][] = [
  [/^with asked as/, "postings"],
  [/^with vectors as/, "vectors"],
  [/^with keyword as/, "candidates"],
  [/split_part\((e\.)?speaker/, "names"],
  [/reference_count = m\.reference_count|into episode_references/, "count references"],
  [/insert into memory_events/, "event"],
  [/insert into (episodes|facts|rules) /, "row"],
  [/insert into lex_doc/, "words"],
  [/insert into embeddings/, "vector"],
  [/idempotency_keys/, "key"],
  [/from episodes\s+where .{0,2000}content_key/s, "twins"],
  [/max\(ordinal\)/, "ordinal"],
  [/permanence in/, "profile facts"],
  [/from rules[\s\S]{0,2000}maturity = /, "proven rules"],
  [/synchronous_commit/, "set local"],
];

const EMBEDDING = "embedding";

const nameOf = (text: string) => NAMES.find(([pattern]) => pattern.test(text.trimStart()))?.[1] ?? "other statements";

/** What was measured since it was last taken. */
interface Measured {
  steps: Map<string, number>;
  embeds: number[];
  /** Milliseconds before an answer in which at least one step was under way: steps may run side by version. */
  covered: number;
  /** Whether steps belong to what follows an answer. */
  after: boolean;
  running: number;
  /** When `covered` was last brought up to date. */
  countedTo: number;
}

export function stopwatch(memory: Memory): Stopwatch {
  const measured: Measured = { steps: new Map(), embeds: [], covered: 0, after: false, running: 0, countedTo: 0 };
  return {
    memory: { ...memory, db: timedDb(measured, memory.db), versions: timedVersions(measured, memory.versions) },
    take() {
      count(measured);
      const { steps, embeds, covered } = measured;
      Object.assign(measured, { steps: new Map(), embeds: [], covered: 0 });
      return { steps, embeds, covered };
    },
    afterwards(on) {
      count(measured);
      measured.after = on;
    },
  };
}

function count(measured: Measured): void {
  const now = performance.now();
  if (measured.running > 0 && !measured.after) measured.covered += now - measured.countedTo;
  measured.countedTo = now;
}

/** Returns how the step is ended; ending it twice ends it once. */
function start(measured: Measured, name: string): () => void {
  count(measured);
  measured.running += 1;
  const since = measured.countedTo;
  let over = false;
  return () => {
    if (over) return;
    over = true;
    count(measured);
    measured.running -= 1;
    const ms = measured.countedTo - since;
    const step = measured.after ? `after: ${name}` : name;
    measured.steps.set(step, (measured.steps.get(step) ?? 0) + ms);
    if (name === EMBEDDING) measured.embeds.push(ms);
  };
}

async function timed<T>(measured: Measured, name: string, work: () => Promise<T>): Promise<T> {
  const end = start(measured, name);
  try {
    return await work();
  } finally {
    end();
  }
}

const timedSql = (measured: Measured, sql: Sql): Sql => ({
  query: <R>(text: string, params?: readonly unknown[]) =>
    timed(measured, nameOf(text), () => sql.query<R>(text, params)),
});

const timedDb = (measured: Measured, db: Db): Db =>
  wrapDb(db, (inner) => ({
    ...timedSql(measured, inner),
    async tx<T>(work: (sql: Sql) => Promise<T>) {
      const begun = start(measured, "begin");
      let committed: (() => void) | undefined;
      try {
        return await inner.tx(async (sql) => {
          begun();
          const value = await work(timedSql(measured, sql));
          committed = start(measured, "commit");
          return value;
        });
      } finally {
        begun();
        committed?.();
      }
    },
  }));

/** The serving version may change while it is being measured, so it is looked up at each call. */
function timedVersions(measured: Measured, versions: EmbeddingVersions): EmbeddingVersions {
  const timedVersion = (version: VersionedEmbedder): VersionedEmbedder => ({
    ...version,
    embedder: {
      ...version.embedder,
      embed: (text, priority) => timed(measured, EMBEDDING, () => version.embedder.embed(text, priority)),
    },
  });
  return Object.create(versions, {
    serving: { get: () => versions.serving && timedVersion(versions.serving) },
    written: { get: () => versions.written.map(timedVersion) },
  });
}
