/** Picks the concrete adapters of an owner: store, model and tokenizer. */
import { existsSync, mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip as gunzipTo } from "node:zlib";
import type { ButlerConfig } from "../daemon/config/config.ts";
import type { OwnerJobs } from "../daemon/owner/owner-state.ts";
import { type ModelOnDisk, type SharedModel, sharedModel } from "../daemon/owner/shared-model.ts";
import type { ScheduleNotes } from "../daemon/schedule/notes.ts";
import { type Clock, fixedClock, systemClock } from "../engine/adapters/clock.ts";
import { openPglite, openPgliteExclusive } from "../engine/adapters/db/pglite.ts";
import type { Db } from "../engine/adapters/db/port.ts";
import { openPostgres } from "../engine/adapters/db/postgres.ts";
import { checkServer, ensureDatabase, hasDatabase } from "../engine/adapters/db/postgres-admin.ts";
import { checkRights, openDatabaseWarning, superuserWarning } from "../engine/adapters/db/postgres-rights.ts";
import { openOnnxEmbedder } from "../engine/adapters/embedder/onnx.ts";
import type { Embedder, ModelVersion } from "../engine/adapters/embedder/port.ts";
import { uuidv7Source } from "../engine/adapters/ids.ts";
import type { Log } from "../engine/adapters/log.ts";
import { MODEL_VARIANTS, type ModelVariant } from "../engine/adapters/model/catalogue.ts";
import { locateModel, type ModelFiles } from "../engine/adapters/model/files.ts";
import { type PullOptions, pullModel } from "../engine/adapters/model/pull.ts";
import { openReranker } from "../engine/adapters/reranker/lazy.ts";
import type { Reranker } from "../engine/adapters/reranker/port.ts";
import { openTokenizer, type TokenizerName } from "../engine/adapters/tokenizer/gpt.ts";
import type { Tokenizer } from "../engine/adapters/tokenizer/port.ts";
import type { Recipe } from "../engine/domain/ranking/recipe.ts";
import { openEngine } from "../engine/engine.ts";
import { jobs } from "../engine/memory/keep/jobs.ts";
import { type MemoryParts, openMemory } from "../engine/memory/open.ts";
import type { Settings } from "../engine/memory/settings.ts";
import type { EarlyStore } from "./owner/early-store.ts";
import { extractorOrWhyNot } from "./owner/extractor.ts";

const gunzip = promisify(gunzipTo);

export interface StorePlace {
  /** The folder of a butler's embedded store. */
  folder(butler: string): string;
  /** A PostgreSQL server; when given, each butler lives in its database there. */
  readonly databaseUrl: string | undefined;
  readonly early?: EarlyStore | undefined;
}

export const clockAt = (now: string | undefined): Clock =>
  now === undefined ? systemClock : fixedClock(new Date(now));

interface OpenerOptions {
  readonly place: StorePlace;
  readonly clock: Clock;
  readonly log: Log;
  readonly models?: ModelPlace;
  /** May a reranking model be fetched? The embedding model is fetched by `modelShelf`. */
  readonly fetch?: boolean;
  readonly recipe?: Recipe | undefined;
}

/** Opens the engines of butlers. */
export const engineOpener = (options: OpenerOptions) => opener(options, (parts) => openEngine({ ...parts, scratch }));

/** Opens only the memories: what a benchmark looks into. */
export const memoryOpener = (options: OpenerOptions) => opener(options, openMemory);

/**
 * The scratch store of a replay is PGlite in memory for both kinds of store: it needs no rights on a server, leaves nothing behind
 * when the process dies, and takes about as much memory as the rows have bytes, twice.
 */
const scratch = () => openPglite({ dir: undefined });

/** Butlers share ids, clock, and one tokenizer of each kind. */
function opener<T>(options: OpenerOptions, open: (parts: MemoryParts) => Promise<T>) {
  const { place, clock, log, models } = options;
  const ids = uuidv7Source();
  const tokenizers = new Map<TokenizerName, Promise<Tokenizer>>();

  function tokenizer(name: TokenizerName): Promise<Tokenizer> {
    const known = tokenizers.get(name) ?? openTokenizer(name);
    tokenizers.set(name, known);
    return known;
  }

  function reranker({ rerank, rerank_model, rerank_model_sha256 }: Settings["retrieval"]): Reranker | undefined {
    if (rerank !== "cross-encoder" || models === undefined) return undefined;
    const place = { model: rerank_model, sha256: rerank_model_sha256, cacheDir: models.cacheDir };
    return openReranker({ ...place, fetch: options.fetch ?? true, log });
  }
  return async (config: ButlerConfig, embedder: Embedder | undefined): Promise<T> => {
    // Beside the opening of the store, which works in another thread: 0.2 to 0.9 s of a first answer.
    const words = tokenizer(config.memory.retrieval.tokenizer);
    // Awaited below; when the store fails first, nobody is left to hear of a tokenizer that fails too.
    words.catch(() => undefined);
    const db = await openDb(place, config.name, log);
    try {
      return await open({
        butler: config.name,
        role: config.role,
        db,
        clock,
        ids,
        embedder,
        tokenizer: await words,
        settings: config.memory,
        log,
        previous: models && olderModel(models, log),
        reranker: reranker(config.memory.retrieval),
        extractor: extractorOrWhyNot(config.memory.extractor, log),
        recipe: options.recipe,
      });
    } catch (error) {
      await db.close();
      throw error;
    }
  };
}

/**
 * Fails with words when a server cannot be reached or used; returns what is unwise about it. Embedded stores are looked at when
 * they are opened.
 */
export async function checkDatabase(databaseUrl: string | undefined): Promise<string | undefined> {
  if (databaseUrl === undefined) return undefined;
  const db = await openPostgres({ url: databaseUrl, max: 1 });
  try {
    await checkServer(db);
    return await superuserWarning(db);
  } finally {
    await db.close();
  }
}

async function openDb(place: StorePlace, butler: string, log: Log): Promise<Db> {
  if (place.databaseUrl === undefined) {
    const early = place.early?.(butler);
    if (early) return early;
    const dir = place.folder(butler);
    mkdirSync(dirname(dir), { recursive: true, mode: 0o700 });
    const snapshot = existsSync(join(dir, "PG_VERSION")) ? undefined : await emptyStore();
    return openPgliteExclusive({ dir, ...(snapshot === undefined ? {} : { snapshot }) });
  }
  const db = await openPostgres({ url: await ensureDatabase(place.databaseUrl, butler) });
  try {
    await checkServer(db);
    await checkRights(db);
    const unwise = await openDatabaseWarning(db);
    if (unwise !== undefined) log.warn({ butler }, unwise);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** What the build left: a store with all migrations and no rows. Without it one is made from nothing, in seconds. */
async function emptyStore(): Promise<Uint8Array | undefined> {
  const place = import.meta.url.endsWith(".ts") ? "../../dist/empty-store.tar.gz" : "../empty-store.tar.gz";
  const file = new URL(place, import.meta.url);
  return existsSync(file) ? gunzip(await readFile(file)) : undefined;
}

/** What the scheduler of an owner needs to know of its stores. */
export function storeJobs(place: StorePlace, clock: Clock, notes: ScheduleNotes): OwnerJobs {
  const { databaseUrl } = place;
  return {
    jobs,
    clock,
    notes,
    hasStore: async (butler) =>
      databaseUrl === undefined
        ? existsSync(join(place.folder(butler), "PG_VERSION"))
        : hasDatabase(databaseUrl, butler),
  };
}

export interface ModelPlace {
  readonly modelDir: string | undefined;
  readonly cacheDir: string;
}

/** The model that made older vectors, if its files are still on this disk; nothing is fetched for it. */
const olderModel = (place: ModelPlace, log: Log) => async (version: ModelVersion) => {
  const variant = MODEL_VARIANTS.find((name) => name === version.variant);
  const files = variant && (await locateModel({ ...place, variant, log }));
  const same = files?.version.model === version.model && files.version.sha256 === version.sha256;
  return files && same ? openOnnxEmbedder(files, { log }) : undefined;
};

/** One model for each variant that some butler asks for. */
export function modelShelf(options: {
  place: ModelPlace;
  fetch: boolean;
  log: Log;
}): (variant: ModelVariant) => SharedModel {
  const { place, log } = options;
  const shelf = new Map<ModelVariant, SharedModel>();
  const onDisk = (files: ModelFiles): ModelOnDisk => ({
    version: files.version,
    load: () => openOnnxEmbedder(files, { log }),
  });

  function create(variant: ModelVariant): SharedModel {
    return sharedModel({
      log,
      locate: async () => {
        const files = await locateModel({ ...place, variant, log });
        return files && onDisk(files);
      },
      pull: options.fetch ? async (signal) => onDisk(await fetchModel(place, variant, { signal })) : undefined,
    });
  }
  return (variant) => {
    const model = shelf.get(variant) ?? create(variant);
    shelf.set(variant, model);
    return model;
  };
}

export function fetchModel(
  place: ModelPlace,
  variant: ModelVariant,
  more: Pick<PullOptions, "signal" | "onProgress"> = {},
) {
  return pullModel({ variant, cacheDir: place.cacheDir, ...more });
}
