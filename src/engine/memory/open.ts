/** Opens one butler's memory: migrates the store, enrols the embedding model and returns a ready object. */
import type { Clock } from "../adapters/clock.ts";
import type { Db } from "../adapters/db/port.ts";
import type { Embedder, ModelVersion } from "../adapters/embedder/port.ts";
import type { Extractor } from "../adapters/extractor/port.ts";
import type { Ids } from "../adapters/ids.ts";
import type { Log } from "../adapters/log.ts";
import { type Meter, silentMeter } from "../adapters/meter.ts";
import type { Reranker } from "../adapters/reranker/port.ts";
import type { Tokenizer } from "../adapters/tokenizer/port.ts";
import type { Vault } from "../adapters/vault/port.ts";
import { lruCache } from "../domain/collections/lru-cache.ts";
import { RECIPE, type Recipe } from "../domain/ranking/recipe.ts";
import { asNobody, asOwnerOf, asTenant, type StoreRoles } from "../store/access/access.ts";
import type { StoreAccess } from "../store/access/roles.ts";
import { openShelves } from "../store/memories/shelves.ts";
import { migrate } from "../store/schema/migrate.ts";
import { openAfterwards } from "./afterwards.ts";
import { openGroups } from "./groups.ts";
import type { Memory } from "./memory.ts";
import { openTimelines } from "./past/timelines.ts";
import { type FollowedModel, followModel } from "./read-model/follow.ts";
import { followTenants } from "./read-model/follow-tenants.ts";
import { noRehearsal, type Rehearsal } from "./recall/rehearse.ts";
import { openVersions } from "./recall/versions.ts";
import type { Settings } from "./settings.ts";
import { openTraffic } from "./traffic.ts";

export interface MemoryParts {
  readonly butler: string;
  readonly role: "butler" | "memory";
  readonly db: Db;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly embedder: Embedder | undefined;
  /**
   * After a change of model: the model of the version that still serves, if its files are at hand. It answers until the
   * rebuild is done and is closed by us. Without it, search by meaning says `degraded` meanwhile.
   */
  readonly previous?: ((version: ModelVersion) => Promise<Embedder | undefined>) | undefined;
  /** Closed with the memory. */
  readonly reranker?: Reranker | undefined;
  /** Closed with the memory. */
  readonly extractor?: Extractor | undefined;
  /** Weights of late interaction, for a benchmark that compares several; RECIPE if left out. */
  readonly recipe?: Recipe | undefined;
  readonly tokenizer: Tokenizer;
  readonly vault?: Vault | undefined;
  readonly settings: Settings;
  readonly log: Log;
  /** Of a process that goes on: its first prompts shall find compiled code. One for all memories of the process. */
  readonly rehearsal?: Rehearsal | undefined;
  /** Absent: nothing is measured. */
  readonly meter?: Meter | undefined;
}

export interface OpenMemory extends Memory {
  /** Takes an embedding model that was loaded after the opening. */
  adopt(embedder: Embedder): Promise<void>;
  /** The store beneath it has stopped for good. */
  isDead(): boolean;
  /** Waits for the work that follows the last answers, then closes the store. The embedder is closed by whoever opened it. */
  close(): Promise<void>;
}

/** Loaded only where it is needed: a store is opened on the way of the first answer. */
async function warnOfRole({ log, butler }: MemoryParts, access: StoreAccess): Promise<void> {
  const { roleMissing } = await import("../store/access/advice.ts");
  const weak = roleMissing(access);
  if (weak) log.warn({ butler }, `${weak.found}. ${weak.remedy}`);
}

/** An embedded store tells what was changed; to a server others write too, and it is asked. */
const readModelOf = ({ db, log }: MemoryParts, roles: StoreRoles): FollowedModel =>
  db.onChange ? followModel(asOwnerOf(db, roles, "read model"), log) : followTenants(db, roles, log);

const MOST_SIZES = 1_000;

export async function openMemory(parts: MemoryParts): Promise<OpenMemory> {
  const access = await migrate(parts.db);
  const { roles } = access;
  if (roles.tenant === undefined) await warnOfRole(parts, access);
  const traffic = openTraffic();
  const afterwards = openAfterwards(parts.log);
  const shelves = openShelves((tenant) => asTenant(parts.db, roles, tenant), { alone: parts.db.kind === "pglite" });
  const versions = openVersions({ ...parts, db: asOwnerOf(parts.db, roles, "embedding versions") });
  if (parts.embedder) await versions.adopt(parts.embedder);
  const readModel = readModelOf(parts, roles);
  const { rehearsal = noRehearsal } = parts;
  const timelines = openTimelines(parts.db);
  return {
    ...parts,
    db: asNobody(parts.db, roles),
    roles,
    meter: parts.meter ?? silentMeter,
    reranker: parts.reranker,
    extractor: parts.extractor,
    vault: parts.vault,
    recipe: parts.recipe ?? RECIPE,
    knownNames: new Map(),
    knownSizes: lruCache(MOST_SIZES),
    get embedder() {
      return versions.own?.embedder;
    },
    get embeddingVersion() {
      return versions.serving?.version;
    },
    versions,
    shelves,
    readModel,
    rehearsal,
    timelines,
    unfolded: new Map(),
    traffic,
    groups: openGroups(traffic.isReadBusily),
    uncounted: [],
    afterwards,
    adopt: versions.adopt,
    isDead: () => parts.db.isDead?.() ?? false,
    async close() {
      await rehearsal.stop();
      await afterwards.settled();
      timelines.close();
      await readModel.close();
      await parts.reranker?.close();
      await parts.extractor?.close();
      await versions.close();
      await parts.db.close();
    },
  };
}
