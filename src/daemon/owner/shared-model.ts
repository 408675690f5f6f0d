/**
 * One embedder for all butlers of an owner. Finding the files is quick and comes first, so that a store knows at opening
 * which vectors it may compare; the weights are loaded meanwhile, and a missing model is fetched in the background.
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
  /**
   * What a store may embed with; undefined while there is no model on this disk. Never waits for a download. `soon`: somebody is about to
   * embed, so the weights are loaded beside the opening of the store instead of after it.
   */
  handle(soon: boolean): Promise<Embedder | undefined>;
  /** Called once when a model arrives after `handle` had to say that there is none. */
  onArrival(tell: (embedder: Embedder) => void): void;
  status(): string;
  fetching(): boolean;
  /** The weights are in memory, or about to be. */
  loaded(): boolean;
  /** Frees the weights; the next use loads them again. */
  drop(): Promise<void>;
  close(): Promise<void>;
}

const RETRY_PULL_MS = 10 * 60_000;

interface ModelState {
  readonly parts: SharedModelParts;
  readonly stopped: AbortController;
  found: Promise<ModelOnDisk | undefined> | undefined;
  loaded: Promise<Embedder> | undefined;
  /** The same once it is there. */
  ready: Embedder | undefined;
  pulling: Promise<void> | undefined;
  /** Runs after a download that failed, until the next one. */
  retry: NodeJS.Timeout | undefined;
  tellArrival(embedder: Embedder): void;
  status: string;
}

export function sharedModel(parts: SharedModelParts): SharedModel {
  const state: ModelState = {
    parts,
    stopped: new AbortController(),
    found: undefined,
    loaded: undefined,
    ready: undefined,
    pulling: undefined,
    retry: undefined,
    tellArrival: () => undefined,
    status: "unknown until first use",
  };
  return {
    async handle(soon) {
      const model = await locate(state);
      if (model) return handleOf(state, model, soon);
      fetchInBackground(state);
      return undefined;
    },
    onArrival(tell) {
      state.tellArrival = tell;
    },
    status: () => state.status,
    fetching: () => state.pulling !== undefined,
    loaded: () => state.loaded !== undefined,
    drop: () => drop(state),
    async close() {
      state.stopped.abort();
      clearTimeout(state.retry);
      await state.pulling;
      await drop(state);
    },
  };
}

function locate(state: ModelState): Promise<ModelOnDisk | undefined> {
  state.found ??= state.parts.locate().then(
    (model) => {
      state.status = model ? describe(model.version) : "none: keyword search only";
      return model;
    },
    (error: unknown) => {
      // A file with wrong bytes is never used; search by keywords goes on and says `degraded`.
      state.parts.log.error({ reason: reasonOf(error) }, "the embedding model cannot be used");
      state.status = `none: ${reasonOf(error)}`;
      return undefined;
    },
  );
  return state.found;
}

/** What a store gets: it loads the weights when it first embeds, unless they are loaded already. */
function handleOf(state: ModelState, model: ModelOnDisk, soon: boolean): Embedder {
  if (soon) void load(state, model).catch(() => undefined);
  return {
    version: model.version,
    // At once where it can be: whatever else a search does in the same turn is then done while the model has the question.
    embed: (text, priority) =>
      state.ready?.embed(text, priority) ?? load(state, model).then((embedder) => embedder.embed(text, priority)),
    // Shared: a store that closes must not take it away from the others.
    close: async () => undefined,
  };
}

function load(state: ModelState, model: ModelOnDisk): Promise<Embedder> {
  if (state.loaded !== undefined) return state.loaded;
  const loading: Promise<Embedder> = model.load().then(
    (embedder) => {
      if (state.loaded === loading) state.ready = embedder;
      return embedder;
    },
    (error: unknown) => {
      state.loaded = undefined;
      state.parts.log.error({ reason: reasonOf(error) }, "the embedding model could not be loaded");
      throw unavailable(`The embedding model could not be loaded: ${reasonOf(error)}`, error);
    },
  );
  state.loaded = loading;
  return loading;
}

async function drop(state: ModelState): Promise<void> {
  const held = state.loaded;
  state.loaded = undefined;
  state.ready = undefined;
  await held?.then(
    (embedder) => embedder.close(),
    () => undefined,
  );
}

function fetchInBackground(state: ModelState): void {
  const { pull } = state.parts;
  const { signal } = state.stopped;
  if (!pull || state.pulling || state.retry || signal.aborted) return;
  state.status = "being fetched; keyword search only until it is here";
  state.pulling = pull(signal).then(
    (model) => arrived(state, model),
    (error: unknown) => {
      state.pulling = undefined;
      if (!signal.aborted) fetchLater(state, reasonOf(error));
    },
  );
}

function arrived(state: ModelState, model: ModelOnDisk): void {
  state.pulling = undefined;
  state.found = Promise.resolve(model);
  state.status = describe(model.version);
  state.parts.log.info({ model: state.status }, "the embedding model has arrived");
  state.tellArrival(handleOf(state, model, true));
}

function fetchLater(state: ModelState, reason: string): void {
  state.status = `none: ${reason}`;
  state.parts.log.warn({ reason }, "the embedding model could not be fetched; keyword search only");
  state.retry = setTimeout(() => {
    state.retry = undefined;
    fetchInBackground(state);
  }, state.parts.retryPullMs ?? RETRY_PULL_MS).unref();
}

const describe = (version: ModelVersion) => `${version.model} ${version.variant}`;
