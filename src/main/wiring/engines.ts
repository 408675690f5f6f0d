/** Opens the engine of a butler with its concrete adapters: store, model, tokenizer, reranker and extractor. */
import type { ButlerConfig } from "../../daemon/config/config.ts";
import { type Clock, fixedClock, systemClock } from "../../engine/adapters/clock.ts";
import { measuredDb } from "../../engine/adapters/db/measured.ts";
import { openPglite } from "../../engine/adapters/db/pglite.ts";
import type { Embedder } from "../../engine/adapters/embedder/port.ts";
import { uuidv7Source } from "../../engine/adapters/ids.ts";
import type { Log } from "../../engine/adapters/log.ts";
import type { Meter } from "../../engine/adapters/meter.ts";
import { openReranker } from "../../engine/adapters/reranker/lazy.ts";
import type { Reranker } from "../../engine/adapters/reranker/port.ts";
import { openTokenizer, type TokenizerName } from "../../engine/adapters/tokenizer/gpt.ts";
import type { Tokenizer } from "../../engine/adapters/tokenizer/port.ts";
import type { Recipe } from "../../engine/domain/ranking/recipe.ts";
import { openEngine } from "../../engine/engine.ts";
import { type MemoryParts, openMemory } from "../../engine/memory/open.ts";
import { openRehearsal } from "../../engine/memory/recall/rehearse.ts";
import type { Settings } from "../../engine/memory/settings.ts";
import { extractorOrWhyNot } from "./extractor.ts";
import { type ModelFolders, olderModel } from "./models.ts";
import { openDb, type StoreLocation } from "./stores.ts";
import { vaultOrWhyNot } from "./vault.ts";

export const clockAt = (now: string | undefined): Clock =>
  now === undefined ? systemClock : fixedClock(new Date(now));

interface OpenerOptions {
  readonly stores: StoreLocation;
  readonly clock: Clock;
  readonly log: Log;
  readonly models?: ModelFolders;
  /** Whether a reranking model may be fetched; the embedding model is fetched by `sharedModels`. */
  readonly fetch?: boolean;
  readonly recipe?: Recipe | undefined;
  /** Absent: nothing is rehearsed. */
  readonly rehearses?: boolean;
  /** Absent: nothing is measured. */
  readonly meter?: Meter | undefined;
}

/** Opens the engines of butlers. */
export const engineOpener = (options: OpenerOptions) => opener(options, (parts) => openEngine({ ...parts, scratch }));

/** Opens only the memories, for benchmarks that look inside. */
export const memoryOpener = (options: OpenerOptions) => opener(options, openMemory);

/**
 * The scratch store of a replay is PGlite in memory for both kinds of store: it needs no rights on a server, leaves nothing behind
 * when the process dies, and takes about as much memory as the rows have bytes, twice.
 */
const scratch = () => openPglite({ dir: undefined });

/** All butlers share one source of ids, the clock, and one tokenizer of each kind, which goes when no engine holds it any more. */
function opener<T>(options: OpenerOptions, open: (parts: MemoryParts) => Promise<T>) {
  const { stores, clock, log, models, meter } = options;
  const ids = uuidv7Source();
  const rehearsal = options.rehearses === true ? openRehearsal() : undefined;
  const tokenizers = new Map<TokenizerName, WeakRef<Tokenizer>>();

  async function tokenizer(name: TokenizerName): Promise<Tokenizer> {
    const known = tokenizers.get(name)?.deref() ?? (await openTokenizer(name));
    tokenizers.set(name, new WeakRef(known));
    return known;
  }

  function reranker({ rerank, rerank_model, rerank_model_sha256 }: Settings["retrieval"]): Reranker | undefined {
    if (rerank !== "cross-encoder" || models === undefined) return undefined;
    const files = { model: rerank_model, sha256: rerank_model_sha256, cacheDir: models.cacheDir };
    return openReranker({ ...files, fetch: options.fetch ?? true, log });
  }
  return async (config: ButlerConfig, embedder: Embedder | undefined): Promise<T> => {
    // Loaded while the store opens in its own thread.
    const tokens = tokenizer(config.memory.retrieval.tokenizer);
    // Awaited below. If the store fails first, a failure of the tokenizer must not go unhandled.
    tokens.catch(() => undefined);
    const opened = await openDb(stores, config.name, log);
    const db = meter === undefined ? opened : measuredDb(opened, meter, config.name);
    try {
      return await open({
        butler: config.name,
        role: config.role,
        db,
        clock,
        ids,
        embedder,
        tokenizer: await tokens,
        settings: config.memory,
        vault: vaultOrWhyNot(config.memory.privacy, log),
        log,
        meter,
        previous: models && olderModel(models, log),
        reranker: reranker(config.memory.retrieval),
        extractor: extractorOrWhyNot(config.memory.extractor, log),
        recipe: options.recipe,
        rehearsal,
      });
    } catch (error) {
      await db.close();
      throw error;
    }
  };
}
