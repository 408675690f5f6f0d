/** Wraps a memory so that every embedding and every statement is timed under the name of what it does. */
import type { Db, Sql } from "../adapters/db/port.ts";
import type { Memory } from "../memory/memory.ts";
import type { EmbeddingVersions, Side } from "../memory/versions.ts";

export interface Stopwatch {
  readonly memory: Memory;
  /** Milliseconds by step since the last call of this, and the single embedding times. */
  take(): { steps: Map<string, number>; embeds: number[] };
  /** Steps from now on belong to what follows an answer. */
  afterwards(on: boolean): void;
}

/** By the first words that tell a statement apart. */
const NAMES: readonly [RegExp, string][] = [
  [/lex_block b on b\.key/, "postings"],
  [/^with keyword as/, "candidates"],
  [/reference_count = m\.reference_count/, "count references"],
  [/insert into memory_events/, "event"],
  [/insert into (episodes|facts|rules) /, "row"],
  [/insert into lex_doc/, "words"],
  [/insert into embeddings/, "vector"],
  [/idempotency_keys/, "key"],
  [/from episodes\s+where .*content_key/s, "twins"],
  [/max\(ordinal\)/, "ordinal"],
  [/permanence in/, "profile facts"],
  [/from rules[\s\S]*maturity = /, "proven rules"],
  [/synchronous_commit/, "set local"],
];

const nameOf = (text: string) => NAMES.find(([pattern]) => pattern.test(text.trimStart()))?.[1] ?? "other statements";

export function stopwatch(memory: Memory): Stopwatch {
  let steps = new Map<string, number>();
  let embeds: number[] = [];
  let after = false;

  const add = (name: string, since: number) => {
    const step = after ? `after: ${name}` : name;
    steps.set(step, (steps.get(step) ?? 0) + performance.now() - since);
  };
  const timedSql = (sql: Sql): Sql => ({
    async query<R>(text: string, params?: readonly unknown[]) {
      const since = performance.now();
      const rows = await sql.query<R>(text, params);
      add(nameOf(text), since);
      return rows;
    },
  });
  const { db, versions } = memory;
  const timedDb: Db = {
    ...db,
    ...timedSql(db),
    async tx<T>(work: (sql: Sql) => Promise<T>) {
      const asked = performance.now();
      let worked = asked;
      const result = await db.tx(async (sql) => {
        add("begin", asked);
        const value = await work(timedSql(sql));
        worked = performance.now();
        return value;
      });
      add("commit", worked);
      return result;
    },
  };
  const timedSide = (side: Side): Side => ({
    ...side,
    embedder: {
      ...side.embedder,
      async embed(text, priority) {
        const since = performance.now();
        const vector = await side.embedder.embed(text, priority);
        embeds.push(performance.now() - since);
        add("embedding", since);
        return vector;
      },
    },
  });
  // What serves may change while it is watched, so it is asked each time.
  const timedVersions: EmbeddingVersions = Object.create(versions, {
    serving: { get: () => versions.serving && timedSide(versions.serving) },
    written: { get: () => versions.written.map(timedSide) },
  });
  return {
    memory: { ...memory, db: timedDb, versions: timedVersions },
    take() {
      const taken = { steps, embeds };
      steps = new Map();
      embeds = [];
      return taken;
    },
    afterwards(on) {
      after = on;
    },
  };
}
