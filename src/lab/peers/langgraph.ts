/** The long-term store of LangGraph: in memory, and on PostgreSQL. */
import type { Embedder } from "../../engine/adapters/embedder/port.ts";
import { type OpenPeer, type Peer, type PeerMemory, spoken, vectorOf } from "./peer.ts";

interface Store {
  batch(operations: readonly object[]): Promise<unknown>;
  search(namespace: readonly string[], options: object): Promise<readonly { key: string }[]>;
  setup?(): Promise<void>;
  end?(): Promise<void>;
}

const NAMESPACE = ["bench"];
const packages = {
  "@langchain/langgraph": "1.1.0",
  "@langchain/langgraph-checkpoint": "1.1.5",
  "@langchain/core": "1.2.13",
};

const shared = { embeds: "a function it is given" } as const;

export const langgraph: Peer = {
  ...shared,
  name: "LangGraph, in memory",
  what: "InMemoryStore with vectors",
  persists: false,
  needsServer: false,
  packages,
  async open({ embedder, load }) {
    const { InMemoryStore } = load<{ InMemoryStore: new (config: object) => Store }>("@langchain/langgraph");
    return opened(new InMemoryStore({ index: indexOf(embedder) }));
  },
};

export const langgraphPostgres: Peer = {
  ...shared,
  name: "LangGraph, PostgreSQL",
  what: "PostgresStore with pgvector",
  persists: true,
  needsServer: true,
  packages: { ...packages, "@langchain/langgraph-checkpoint-postgres": "1.0.5" },
  async open({ databaseUrl, embedder, load }) {
    const name = "@langchain/langgraph-checkpoint-postgres/store";
    const { PostgresStore } = load<{
      PostgresStore: { fromConnString(url: string | undefined, options: object): Store };
    }>(name);
    const store = PostgresStore.fromConnString(databaseUrl, { index: indexOf(embedder) });
    await store.setup?.();
    return opened(store);
  },
};

function indexOf(embedder: Embedder): object {
  const embed = async (text: string) => [...(await vectorOf(embedder, text, "query"))];
  const embeddings = {
    embedQuery: embed,
    embedDocuments: (texts: readonly string[]) => Promise.all(texts.map(embed)),
  };
  return { dims: embedder.version.dimensions, embeddings, embed: embeddings, fields: ["text"] };
}

const opened = (store: Store): OpenPeer => ({
  async store(memories: readonly PeerMemory[]) {
    await store.batch(memories.map((one) => ({ namespace: NAMESPACE, key: one.key, value: { text: spoken(one) } })));
    return undefined;
  },
  async search(query, limit) {
    return (await store.search(NAMESPACE, { query, limit })).map(({ key }) => key);
  },
  close: async () => store.end?.(),
});
