/**
 * A reranker that is opened at its first question, so that an owner whose searches never rerank loads no weights. A question waits
 * for loading but never for a download: until the model is on disk it is refused with `unavailable`, and search goes on without.
 */
import { unavailable } from "../../domain/errors.ts";
import { type Log, silentLog } from "../log.ts";
import { openCrossEncoder } from "./cross-encoder.ts";
import {
  byHand,
  type CrossEncoderSource,
  checkCrossEncoder,
  crossEncoderName,
  type FetchOptions,
  fetchCrossEncoder,
  locateCrossEncoder,
} from "./model-files.ts";
import type { Reranker } from "./port.ts";

export interface RerankerOptions extends CrossEncoderSource, Omit<FetchOptions, "signal"> {
  /** Whether a model that is not on this disk may be fetched. */
  readonly fetch: boolean;
  readonly threads?: number;
  readonly log?: Log;
  readonly retryMs?: number;
}

/** After a failure (a broken file, no network) questions are refused for this long without a new attempt. */
const RETRY_MS = 10 * 60_000;

export function openReranker(options: RerankerOptions): Reranker {
  const { model, threads = 1, log = silentLog, retryMs = RETRY_MS } = options;
  const stopped = new AbortController();
  let opened: Promise<Reranker> | undefined;
  let fetching: Promise<void> | undefined;
  let failure: Error | undefined;
  let retry: NodeJS.Timeout | undefined;

  function giveUpForNow(error: Error) {
    if (stopped.signal.aborted) return;
    log.warn({ model, reason: error.message }, "the reranking model cannot be used; search goes on without it");
    failure = error;
    retry = setTimeout(() => {
      failure = undefined;
    }, retryMs).unref();
  }

  async function fetchInBackground(): Promise<void> {
    try {
      await fetchCrossEncoder(options, { ...options, signal: stopped.signal });
      log.info({ model }, "the reranking model has arrived");
    } catch (error) {
      giveUpForNow(error instanceof Error ? error : new Error(String(error)));
    } finally {
      fetching = undefined;
    }
  }

  async function open(): Promise<Reranker> {
    const files = fetching ? undefined : await locateCrossEncoder(options);
    if (files) {
      await checkCrossEncoder(options, files);
      return openCrossEncoder(files, { threads, log });
    }
    if (!options.fetch) throw unavailable(byHand(options, "nothing is fetched here"));
    fetching ??= fetchInBackground();
    throw unavailable(`The reranking model ${model} is being fetched; search goes on without it.`);
  }

  return {
    name: crossEncoderName(model),
    async score(query, texts) {
      if (stopped.signal.aborted) throw unavailable("The reranker is closed.");
      if (failure) throw failure;
      opened ??= open().catch((error: Error) => {
        opened = undefined;
        if (!fetching) giveUpForNow(error);
        throw error;
      });
      return (await opened).score(query, texts);
    },
    async close() {
      stopped.abort();
      clearTimeout(retry);
      await fetching;
      await opened?.then(
        (reranker) => reranker.close(),
        () => undefined,
      );
    },
  };
}
