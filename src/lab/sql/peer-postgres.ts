/** What one writes in an afternoon on PostgreSQL: a table with a tsvector and a vector, an index on each, fused by rank. */
import { openPostgres } from "../../engine/adapters/db/postgres.ts";
import { vectorLiteral } from "../../engine/store/memories/rows.ts";
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

const CANDIDATES = 50;
const CONNECTIONS = 8;

export const postgres: Peer = {
  name: "PostgreSQL",
  what: "tsvector and pgvector (HNSW), fused by rank",
  persists: true,
  embeds: "a function it is given",
  needsServer: true,
  packages: {},
  async open({ databaseUrl = "", embedder }: Place): Promise<OpenPeer> {
    const db = await openPostgres({ url: databaseUrl, max: CONNECTIONS });
    await db.exec(`create extension if not exists vector;
      create table if not exists memory (key text primary key, content text not null, embedding vector(${embedder.version.dimensions}) not null,
        words tsvector generated always as (to_tsvector('english', content)) stored);
      create index if not exists memory_words on memory using gin (words);
      create index if not exists memory_embedding on memory using hnsw (embedding vector_cosine_ops)`);
    const keys = (rows: readonly { key: string }[]) => rows.map(({ key }) => key);
    return {
      async store(memories: readonly PeerMemory[]) {
        const vectors = await Promise.all(memories.map((one) => vectorOf(embedder, spoken(one), "write")));
        const rows = memories.map((memory, index) => ({
          key: memory.key,
          content: spoken(memory),
          embedding: vectorLiteral(vectors[index] ?? new Float32Array()),
        }));
        await db.query(
          `insert into memory (key, content, embedding)
           select r.key, r.content, r.embedding::vector
           from jsonb_to_recordset($1::jsonb) as r (key text, content text, embedding text)`,
          [JSON.stringify(rows)],
        );
        // One statement: it stores all rows, or fails.
        return rows.length;
      },
      async search(question, limit) {
        const words = wordsOf(question).join(" | ");
        const [lexical, near] = await Promise.all([
          db.query<{ key: string }>(
            `select key from memory, to_tsquery('english', $1) q where words @@ q order by ts_rank(words, q) desc limit $2`,
            [words, CANDIDATES],
          ),
          vectorOf(embedder, question, "query").then((vector) =>
            db.query<{ key: string }>(`select key from memory order by embedding <=> $1::vector limit $2`, [
              vectorLiteral(vector),
              CANDIDATES,
            ]),
          ),
        ]);
        return fused([keys(lexical), keys(near)], limit);
      },
      close: () => db.close(),
    };
  },
};
