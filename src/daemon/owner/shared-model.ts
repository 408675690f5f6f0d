/**
 * One embedder for all butlers of a house. Finding the files is quick and comes first, so that a store knows at opening
 * which vectors it may compare; the weights are loaded beside it, and a missing model is fetched in the background.
 */
import type { Embedder, ModelVersion } from "../../engine/adapters/embedder/port.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { reasonOf, unavailable } from "../../engine/domain/errors.ts";

export interface ModelOnDisk {
  readonly version: ModelVersion;
  load(): Promise<Embedder>;
}

export interface SharedModelParts {
  locate(): Promise<ModelOnDisk | undefined>;
  /** Absent: what is not on this disk is not fetched. */
  pull?: ((signal: AbortSignal) => Promise<ModelOnDisk>) | undefined;
  readonly log: Log;
  readonly retryPullMs?: number;
}

export interface SharedModel {
  /** What a store may embed with; undefined while there is no model on this disk. Never waits for a download. */
  handle(): Promise<Embedder | undefined>;
  /** Called once when a model arrives after `handle` had to say that there is none. */
  onArrival(tell: (embedder: Embedder) => void): void;
  status(): string;
  fetching(): boolean;
  /** Frees the weights; the next use loads them again. */
  drop(): Promise<void>;
  close(): Promise<void>;
}

const RETRY_PULL_MS = 10 * 60_000;

export function sharedModel(parts: SharedModelParts): SharedModel {
  const { log } = parts;
  const stopped = new AbortController();
  let found: Promise<ModelOnDisk | undefined> | undefined;
  let loaded: Promise<Embedder> | undefined;
  let pulling: Promise<void> | undefined;
  let retry: NodeJS.Timeout | undefined;
  let tellArrival: (embedder: Embedder) => void = () => undefined;
  let status = "unknown until first use";

  function locate(): Promise<ModelOnDisk | undefined> {
    found ??= parts.locate().then(
      (model) => {
        status = model ? describe(model.version) : "none: keyword search only";
        return model;
      },
      (error: unknown) => {
        // A file with wrong bytes is never used; search by keywords goes on and says `degraded`.
        log.error({ reason: reasonOf(error) }, "the embedding model cannot be used");
        status = `none: ${reasonOf(error)}`;
        return undefined;
      },
    );
    return found;
  }

  function load(model: ModelOnDisk): Promise<Embedder> {
    loaded ??= model.load().catch((error: unknown) => {
      loaded = undefined;
      log.error({ reason: reasonOf(error) }, "the embedding model could not be loaded");
      throw unavailable(`The embedding model could not be loaded: ${reasonOf(error)}`, error);
    });
    return loaded;
  }

  function fetchInBackground(): void {
    const { pull } = parts;
    if (!pull || pulling || retry || stopped.signal.aborted) return;
    status = "being fetched; keyword search only until it is here";
    pulling = pull(stopped.signal).then(
      (model) => {
        pulling = undefined;
        found = Promise.resolve(model);
        status = describe(model.version);
        log.info({ model: status }, "the embedding model has arrived");
        tellArrival(handOf(model));
      },
      (error: unknown) => {
        pulling = undefined;
        if (stopped.signal.aborted) return;
        status = `none: ${reasonOf(error)}`;
        log.warn({ reason: reasonOf(error) }, "the embedding model could not be fetched; keyword search only");
        retry = setTimeout(() => {
          retry = undefined;
          fetchInBackground();
        }, parts.retryPullMs ?? RETRY_PULL_MS).unref();
      },
    );
  }

  function handOf(model: ModelOnDisk): Embedder {
    // A store that opens is about to embed: loading now runs beside the opening instead of after it.
    void load(model).catch(() => undefined);
    return {
      version: model.version,
      embed: async (text, priority) => (await load(model)).embed(text, priority),
      // Shared: a store that closes must not take it away from the others.
      close: async () => undefined,
    };
  }

  return {
    async handle() {
      const model = await locate();
      if (!model) {
        fetchInBackground();
        return undefined;
      }
      return handOf(model);
    },
    onArrival(tell) {
      tellArrival = tell;
    },
    status: () => status,
    fetching: () => pulling !== undefined,
    async drop() {
      const held = loaded;
      loaded = undefined;
      await held?.then(
        (embedder) => embedder.close(),
        () => undefined,
      );
    },
    async close() {
      stopped.abort();
      clearTimeout(retry);
      await pulling;
      await this.drop();
    },
  };
}

const describe = (version: ModelVersion) => `${version.model} ${version.variant}`;
