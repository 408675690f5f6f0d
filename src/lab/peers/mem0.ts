/** mem0, its open-source part, with its own store on disk. Its extraction of facts by a language model is left out. */
import { serveEmbeddings } from "./embeddings-server.ts";
import { type OpenPeer, type Peer, type PeerMemory, type Place, spoken } from "./peer.ts";

interface Mem0 {
  add(text: string, options: object): Promise<{ results?: readonly unknown[] }>;
  search(query: string, options: object): Promise<{ results: readonly { metadata?: { key?: string } }[] }>;
}

const PERSON = "bench";
/** Fewer than the default of 0.1 would leave nothing out; what is found must not depend on a threshold. */
const THRESHOLD = 0;

export const mem0: Peer = {
  name: "mem0",
  what: "its open-source mode, store on disk, infer off",
  persists: true,
  embeds: "a server it asks",
  needsServer: false,
  packages: { mem0ai: "3.3.1", "better-sqlite3": "12.6.2", pg: "8.23.1" },
  async open({ folder, embedder, load }: Place): Promise<OpenPeer> {
    const { Memory } = load<{ Memory: new (config: object) => Mem0 }>("mem0ai/oss");
    const server = await serveEmbeddings(embedder);
    const { model, dimensions } = embedder.version;
    const asks = { apiKey: "none", baseURL: server.url };
    const memory = new Memory({
      version: "v1.1",
      embedder: { provider: "openai", config: { ...asks, model, embeddingDims: dimensions } },
      // Never asked, but it cannot be opened without one.
      llm: { provider: "openai", config: { ...asks, model: "none" } },
      vectorStore: {
        provider: "memory",
        config: { collectionName: "bench", dimension: dimensions, dbPath: `${folder}/vectors.db` },
      },
      historyDbPath: `${folder}/history.db`,
    });
    return {
      async store(memories: readonly PeerMemory[]) {
        let stored = 0;
        for (const one of memories) {
          const options = { userId: PERSON, infer: false, metadata: { key: one.key } };
          const { results } = await memory.add(spoken(one), options);
          stored += results?.length ?? 1;
        }
        return stored;
      },
      async search(question, limit) {
        const options = { topK: limit, threshold: THRESHOLD, filters: { user_id: PERSON } };
        const { results } = await memory.search(question, options);
        return results.map(({ metadata }) => metadata?.key ?? "");
      },
      close: () => server.close(),
    };
  },
};
