/** What one writes in an afternoon on SQLite: a table, a full-text index, and a scan of all vectors. */
import {
  fused,
  type OpenPeer,
  type Peer,
  type PeerMemory,
  type Place,
  spoken,
  vectorOf,
  wordsOf,
} from "../peers/peer.ts";

interface Statement {
  run(...values: readonly unknown[]): { readonly changes: number };
  all(...values: readonly unknown[]): Record<string, unknown>[];
}

interface Sqlite {
  exec(script: string): void;
  pragma(text: string): unknown;
  prepare(text: string): Statement;
  close(): void;
}

interface SqliteVec {
  load(db: Sqlite): void;
}

const CANDIDATES = 50;

export const sqlite: Peer = {
  name: "SQLite",
  what: "FTS5 and sqlite-vec, fused by rank",
  persists: true,
  embeds: "a function it is given",
  needsServer: false,
  packages: { "better-sqlite3": "12.6.2", "sqlite-vec": "0.1.9" },
  async open({ folder, embedder, load }: Place): Promise<OpenPeer> {
    const Database = load<new (file: string) => Sqlite>("better-sqlite3");
    const db = new Database(`${folder}/peer.db`);
    load<SqliteVec>("sqlite-vec").load(db);
    db.pragma("journal_mode = WAL");
    // As durable as the others: a commit is on disk when it is acknowledged.
    db.pragma("synchronous = FULL");
    db.exec(`create table if not exists memory (id integer primary key, key text not null, content text not null);
      create virtual table if not exists words using fts5(content, tokenize = 'porter unicode61');
      create virtual table if not exists vectors using vec0(embedding float[${embedder.version.dimensions}] distance_metric=cosine)`);
    const put = {
      memory: db.prepare("insert into memory (id, key, content) values (?, ?, ?)"),
      words: db.prepare("insert into words (rowid, content) values (?, ?)"),
      vector: db.prepare("insert into vectors (rowid, embedding) values (?, ?)"),
    };
    const byWords = db.prepare(
      "select m.key from words w join memory m on m.id = w.rowid where words match ? order by w.rank limit ?",
    );
    const byVector = db.prepare(
      `select m.key from (select rowid, distance from vectors where embedding match ? and k = ?) v
       join memory m on m.id = v.rowid order by v.distance`,
    );
    const keys = (rows: readonly Record<string, unknown>[]) => rows.map(({ key }) => String(key));
    let last = 0;
    return {
      async store(memories: readonly PeerMemory[]) {
        const vectors = await Promise.all(memories.map((one) => vectorOf(embedder, spoken(one), "write")));
        let stored = 0;
        db.exec("begin");
        for (const [index, memory] of memories.entries()) {
          const id = BigInt(++last);
          stored += put.memory.run(id, memory.key, spoken(memory)).changes;
          put.words.run(id, spoken(memory));
          put.vector.run(id, bytesOf(vectors[index]));
        }
        db.exec("commit");
        return stored;
      },
      async search(question, limit) {
        const vector = await vectorOf(embedder, question, "query");
        const words = wordsOf(question).map((word) => `"${word}"`);
        const lexical = words.length === 0 ? [] : byWords.all(words.join(" OR "), CANDIDATES);
        return fused([keys(lexical), keys(byVector.all(bytesOf(vector), CANDIDATES))], limit);
      },
      async settle() {
        db.exec("insert into words (words) values ('optimize'); analyze");
      },
      async close() {
        db.close();
      },
    };
  },
};

const bytesOf = (vector: Float32Array = new Float32Array()) => Buffer.from(Float32Array.from(vector).buffer);
