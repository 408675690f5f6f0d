/** Opens one butler's memory: migrate, know the model, hand out a ready object. */
import type { Clock } from "../adapters/clock.ts";
import type { Db } from "../adapters/db/port.ts";
import type { Embedder } from "../adapters/embedder/port.ts";
import type { Ids } from "../adapters/ids.ts";
import type { Log } from "../adapters/log.ts";
import type { Tokenizer } from "../adapters/tokenizer/port.ts";
import { migrate } from "../store/migrate.ts";
import { openShelves } from "../store/shelves.ts";
import { versionRow } from "../store/vectors.ts";
import { openAfterwards } from "./afterwards.ts";
import type { Memory } from "./memory.ts";
import type { Settings } from "./settings.ts";

export interface MemoryParts {
  readonly butler: string;
  readonly role: "butler" | "memory";
  readonly db: Db;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly embedder: Embedder | undefined;
  readonly tokenizer: Tokenizer;
  readonly settings: Settings;
  readonly log: Log;
}

export interface OpenMemory extends Memory {
  /** Takes a model that arrived later. */
  adopt(embedder: Embedder): Promise<void>;
  /** Finishes what follows the last answers, then closes the store. The embedder is the giver's to close. */
  close(): Promise<void>;
}

export async function openMemory(parts: MemoryParts): Promise<OpenMemory> {
  await migrate(parts.db);
  const afterwards = openAfterwards(parts.log);
  const shelves = openShelves(parts.db);
  let embedder: Embedder | undefined;
  let embeddingVersion: number | undefined;
  const adopt = async (model: Embedder) => {
    embeddingVersion = (await versionRow(parts.db, model.version, parts.clock.now())).id;
    embedder = model;
  };
  if (parts.embedder) await adopt(parts.embedder);
  return {
    ...parts,
    get embedder() {
      return embedder;
    },
    get embeddingVersion() {
      return embeddingVersion;
    },
    shelves,
    unfolded: new Map(),
    afterwards,
    adopt,
    async close() {
      await afterwards.settled();
      await parts.db.close();
    },
  };
}
