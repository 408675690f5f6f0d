/** The memory of Mastra: messages in threads on libSQL, recalled by meaning. */
import { systemClock } from "../../engine/adapters/clock.ts";
import { type OpenPeer, type Peer, type PeerMemory, type Place, spoken, vectorOf } from "./peer.ts";

interface MastraMemory {
  saveThread(asked: object): Promise<unknown>;
  saveMessages(asked: object): Promise<{ messages?: readonly unknown[] }>;
  recall(asked: object): Promise<{ messages: readonly { id: string }[] }>;
}

interface Libsql {
  readonly LibSQLStore: new (config: object) => object;
  readonly LibSQLVector: new (config: object) => object;
}

const PERSON = "bench";
const THREAD = "thread";
const AT_ONCE = 100;

export const mastra: Peer = {
  name: "Mastra memory",
  what: "messages and vectors on libSQL, semantic recall",
  persists: true,
  embeds: "a function it is given",
  needsServer: false,
  packages: { "@mastra/memory": "1.31.0", "@mastra/core": "1.71.0", "@mastra/libsql": "1.23.1" },
  async open({ folder, embedder, load }: Place): Promise<OpenPeer> {
    const { Memory } = load<{ Memory: new (config: object) => MastraMemory }>("@mastra/memory");
    const { LibSQLStore, LibSQLVector } = load<Libsql>("@mastra/libsql");
    const url = `file:${folder}/peer.db`;
    const model = {
      specificationVersion: "v2",
      provider: "bench",
      modelId: embedder.version.model,
      maxEmbeddingsPerCall: AT_ONCE,
      supportsParallelCalls: true,
      doEmbed: async ({ values }: { values: readonly string[] }) => ({
        embeddings: await Promise.all(values.map(async (text) => [...(await vectorOf(embedder, text, "query"))])),
      }),
    };
    const memory = new Memory({
      storage: new LibSQLStore({ id: "store", url }),
      vector: new LibSQLVector({ id: "vectors", url }),
      embedder: model,
      options: { lastMessages: false, semanticRecall: { topK: 10, messageRange: 0, scope: "resource" } },
    });
    const now = systemClock.now();
    await memory.saveThread({
      thread: { id: THREAD, resourceId: PERSON, title: "bench", createdAt: now, updatedAt: now, metadata: {} },
    });
    let last = now.getTime();
    return {
      async store(memories: readonly PeerMemory[]) {
        const messages = memories.map((one) => ({
          id: one.key,
          threadId: THREAD,
          resourceId: PERSON,
          role: "user",
          type: "text",
          createdAt: new Date(++last),
          content: { format: 2, parts: [{ type: "text", text: spoken(one) }] },
        }));
        return (await memory.saveMessages({ messages })).messages?.length;
      },
      async search(question, limit) {
        const semanticRecall = { topK: limit, messageRange: 0, scope: "resource" };
        const threadConfig = { lastMessages: false, semanticRecall };
        const asked = { threadId: THREAD, resourceId: PERSON, vectorSearchString: question, threadConfig };
        return (await memory.recall(asked)).messages.map(({ id }) => id);
      },
      close: async () => undefined,
    };
  },
};
