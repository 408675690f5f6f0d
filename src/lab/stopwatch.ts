/** Wraps a memory so that every embedding and every statement is timed under the name of what it does. */
import type { Db, Sql } from "../engine/adapters/db/port.ts";
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
  [/lex_block b on b\.key/, "postings"],
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

export function stopwatch(memory: Memory): Stopwatch {
  let steps = new Map<string, number>();
  let embeds: number[] = [];
  let after = false;
  let running = 0;
  let covered = 0;
  let marked = 0;

  const mark = () => {
    const now = performance.now();
    if (running > 0 && !after) covered += now - marked;
    marked = now;
  };
  /** Steps may run side by side; `covered` counts the time in which at least one did. Ending a step twice ends it once. */
  function start(name: string): () => void {
    mark();
    running += 1;
    const since = marked;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      mark();
      running -= 1;
      const step = after ? `after: ${name}` : name;
      steps.set(step, (steps.get(step) ?? 0) + marked - since);
      if (name === EMBEDDING) embeds.push(marked - since);
    };
  }
  async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
    const end = start(name);
    try {
      return await work();
    } finally {
      end();
    }
  }
  const timedSql = (sql: Sql): Sql => ({
    query: <R>(text: string, params?: readonly unknown[]) => timed(nameOf(text), () => sql.query<R>(text, params)),
  });
  const { db, versions } = memory;
  const timedDb: Db = {
    ...db,
    ...timedSql(db),
    async tx<T>(work: (sql: Sql) => Promise<T>) {
      const begun = start("begin");
      let committed: (() => void) | undefined;
      try {
        return await db.tx(async (sql) => {
          begun();
          const value = await work(timedSql(sql));
          committed = start("commit");
          return value;
        });
      } finally {
        begun();
        committed?.();
      }
    },
  };
  const timedVersion = (side: VersionedEmbedder): VersionedEmbedder => ({
    ...side,
    embedder: {
      ...side.embedder,
      embed: (text, priority) => timed(EMBEDDING, () => side.embedder.embed(text, priority)),
    },
  });
  // What serves may change while it is watched, so it is asked each time.
  const timedVersions: EmbeddingVersions = Object.create(versions, {
    serving: { get: () => versions.serving && timedVersion(versions.serving) },
    written: { get: () => versions.written.map(timedVersion) },
  });
  return {
    memory: { ...memory, db: timedDb, versions: timedVersions },
    take() {
      mark();
      const taken = { steps, embeds, covered };
      steps = new Map();
      embeds = [];
      covered = 0;
      return taken;
    },
    afterwards(on) {
      mark();
      after = on;
    },
  };
}
