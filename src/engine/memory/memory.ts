/** The record that every use-case receives: one butler's open memory, and who is calling. */
import type { Clock } from "../adapters/clock.ts";
import type { Db } from "../adapters/db/port.ts";
import type { Embedder } from "../adapters/embedder/port.ts";
import type { Extractor } from "../adapters/extractor/port.ts";
import type { Ids } from "../adapters/ids.ts";
import type { Log } from "../adapters/log.ts";
import type { Meter } from "../adapters/meter.ts";
import type { Reranker } from "../adapters/reranker/port.ts";
import type { Tokenizer } from "../adapters/tokenizer/port.ts";
import type { Vault } from "../adapters/vault/port.ts";
import type { LruCache } from "../domain/collections/lru-cache.ts";
import type { Trust } from "../domain/learning/trust.ts";
import type { Recipe } from "../domain/ranking/recipe.ts";
import type { RequestContext } from "../domain/request.ts";
import type { Viewer } from "../domain/scope.ts";
import type { StoreRoles } from "../store/access/access.ts";
import type { Shelves } from "../store/memories/shelves.ts";
import type { Afterwards } from "./afterwards.ts";
import type { Following } from "./following.ts";
import type { Groups } from "./groups.ts";
import type { Timelines } from "./past/timelines.ts";
import type { FollowedModel } from "./read-model/follow.ts";
import type { Uncounted } from "./recall/reference.ts";
import type { Rehearsal } from "./recall/rehearse.ts";
import type { Sizes } from "./recall/vector-arm.ts";
import type { EmbeddingVersions } from "./recall/versions.ts";
import type { Settings } from "./settings.ts";
import type { Traffic } from "./traffic.ts";

export interface Memory {
  /** The butler whose database this is. */
  readonly butler: string;
  /** A butler with the role `memory` keeps memories for other butlers too. */
  readonly role: "butler" | "memory";
  /** In a call the store as its tenant sees it, in a job the whole store, elsewhere a store without rows: `tenancy.ts`. */
  readonly db: Db;
  readonly roles: StoreRoles;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Undefined without an embedding model: keyword search goes on and answers say `degraded`. */
  readonly embedder: Embedder | undefined;
  /** The version of vectors that a query is compared with. */
  readonly embeddingVersion: number | undefined;
  /** Which vectors are compared and which are written; two versions stand side by side after a change of model. */
  readonly versions: EmbeddingVersions;
  /** Opened when the settings ask for a cross-encoder. */
  readonly reranker: Reranker | undefined;
  /** Reads episodes when they are consolidated. */
  readonly extractor: Extractor | undefined;
  /** The weights of late interaction. */
  readonly recipe: Recipe;
  /** First names of speakers that earlier questions named, by tenant. A guess: the store is asked each time. */
  readonly knownNames: Map<string, Set<string>>;
  /** How many memories the shelves of earlier questions held. A guess too. */
  readonly knownSizes: LruCache<string, Sizes>;
  readonly tokenizer: Tokenizer;
  readonly settings: Settings;
  readonly shelves: Shelves;
  /** What ranking reads, kept in memory beside the store. */
  readonly readModel: FollowedModel;
  /** Made when the read model has been loaded. */
  readonly rehearsal: Rehearsal;
  /** What became of the memories of each tenant, kept since the first question about their past. */
  readonly timelines: Timelines;
  /** How many memories this process has added to each shelf since its postings were last folded. */
  readonly unfolded: Map<number, number>;
  readonly traffic: Traffic;
  /** Writes that come while another is under way, to be carried out together. */
  readonly groups: Groups;
  /** Answers whose references wait to be counted. */
  readonly uncounted: Uncounted[];
  /** Work that follows the answer: counting references, folding postings. */
  readonly afterwards: Afterwards;
  /** Undefined without a key of encryption. */
  readonly vault: Vault | undefined;
  readonly log: Log;
  readonly meter: Meter;
}

export interface Caller extends Viewer {
  /** Who did it, for the audit stream: `token:<name>`, `local`, `job:<name>`. */
  readonly actor: string;
  /** The highest trust that anything it stores can have. */
  readonly voice: Trust;
  /** The agent session behind the connection, when known. */
  readonly session: string | undefined;
}

export interface Call {
  readonly memory: Memory;
  readonly caller: Caller;
  readonly now: Date;
  readonly request: RequestContext | undefined;
  /** Makes a write repeatable: a second call with the same key gives the first one's answer. */
  readonly idempotencyKey: string | undefined;
  /** Absent for calls that nobody can cancel: those of jobs. */
  readonly following?: Following | undefined;
  /** Looking around on a page is no use of a memory, and does not make it live longer. */
  readonly uncounted?: boolean;
}
