/** A memory that others wrote, or that one writes in an afternoon, behind the few verbs that a benchmark needs. */
import type { Embedder } from "../../engine/adapters/embedder/port.ts";

export interface PeerMemory {
  /** The benchmark's own name of it; an answer is compared by it. */
  readonly key: string;
  readonly text: string;
  readonly session?: string | undefined;
  readonly speaker?: string | undefined;
  readonly time?: string | undefined;
}

export interface OpenPeer {
  /** How many more memories it holds than before; undefined where its interface does not tell. */
  store(memories: readonly PeerMemory[]): Promise<number | undefined>;
  /** Keys of what was found, best first. */
  search(question: string, limit: number): Promise<readonly string[]>;
  /** After filling: what its own process, or its server, does when nobody asks. */
  settle?(): Promise<void>;
  /** Resolves when what it does after opening is done, as in a process that has served for a minute. */
  ready?(): Promise<void>;
  /** Resolves when what it does after its answers is done: it is not to be done in the next one's turn. */
  rest?(): Promise<void>;
  close(): Promise<void>;
}

/** What a peer is opened with: a folder, empty or as it left it, a server if there is one, the model that all share, and its own packages. */
export interface Place {
  readonly folder: string;
  /** A database of the peer's own, empty or as it left it; this program makes its own from the server and a name. */
  readonly databaseUrl: string | undefined;
  readonly server: { readonly url: string; readonly database: string } | undefined;
  readonly embedder: Embedder;
  /** Loads a package of the peer's own from where it was installed. */
  load<T>(name: string): T;
}

export interface Peer {
  readonly name: string;
  readonly what: string;
  /** Whether what was stored is there after the process has ended. */
  readonly persists: boolean;
  /** Who turns texts into vectors: the peer in its own process, or somebody it asks. */
  readonly embeds: "itself" | "a function it is given" | "a server it asks";
  readonly needsServer: boolean;
  /** Package names with the one version that is measured. */
  readonly packages: Readonly<Record<string, string>>;
  open(place: Place): Promise<OpenPeer>;
}

/** `only`: a part of its name, in any case; several with a slash between them. */
export const isNamed = (name: string, only = ""): boolean =>
  only.split("/").some((part) => name.toLowerCase().includes(part.trim().toLowerCase()));

/** What a peer that knows no speakers is told, so that a question about somebody can find it. */
export const spoken = ({ speaker, text }: PeerMemory) => (speaker === undefined ? text : `${speaker}: ${text}`);

export const vectorOf = async (embedder: Embedder, text: string, priority: "query" | "write") =>
  (await embedder.embed(text, priority)).vector;

/** Every list of results gives its places a weight; the constant is the usual one. */
const RRF = 60;

export function fused(lists: readonly (readonly string[])[], limit: number): string[] {
  const scores = new Map<string, number>();
  for (const list of lists)
    for (const [rank, key] of list.entries()) scores.set(key, (scores.get(key) ?? 0) + 1 / (RRF + rank + 1));
  return [...scores]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, limit)
    .map(([key]) => key);
}

/** The words of a question without what the query languages of full-text indexes give a meaning. */
export const wordsOf = (question: string): string[] => question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
