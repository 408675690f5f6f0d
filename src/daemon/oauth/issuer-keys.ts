/**
 * The public keys of the issuer. They are fetched when the first token comes, again after ten minutes, and when a token names a key that is
 * not among them. An issuer that does not answer is not asked again at once, and the keys that are known are good for half a day.
 */
import type { createLocalJWKSet, JSONWebKeySet, JWTVerifyGetKey } from "jose";
import type { Log } from "../../engine/adapters/log.ts";
import { errorCode, reasonOf, unavailable } from "../../engine/domain/errors.ts";

export interface KeyParts {
  readonly url: string;
  readonly local: typeof createLocalJWKSet;
  readonly log: Log;
  /** Milliseconds. */
  now(): number;
  /** Between two requests to the issuer. */
  readonly pauseMs?: number;
}

const FRESH_MS = 10 * 60_000;
const LONGEST_MS = 12 * 60 * 60_000;
const PAUSE_MS = 30_000;
const TIMEOUT_MS = 5_000;
const MOST_CHARACTERS = 262_144;

type FindKey = ReturnType<typeof createLocalJWKSet>;

export function issuerKeys({ url, local, log, now, pauseMs = PAUSE_MS }: KeyParts): JWTVerifyGetKey {
  let keys: { readonly find: FindKey; readonly at: number } | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<void> | undefined;

  const load = (): Promise<void> => {
    triedAt = now();
    loading ??= fetchKeys(url)
      .then((set) => {
        keys = { find: local(set), at: now() };
      })
      .finally(() => {
        loading = undefined;
      });
    return loading;
  };
  const mayTry = () => now() - triedAt >= pauseMs;

  async function current(): Promise<FindKey> {
    if (loading !== undefined || ((keys === undefined || now() - keys.at > FRESH_MS) && mayTry()))
      await load().catch((error: unknown) =>
        log.warn({ url, reason: reasonOf(error) }, "the issuer's keys cannot be fetched"),
      );
    if (keys !== undefined && now() - keys.at <= LONGEST_MS) return keys.find;
    throw keysDown();
  }

  return async (header, token) => {
    const find = await current();
    try {
      return await find(header, token);
    } catch (error) {
      if (errorCode(error) !== "ERR_JWKS_NO_MATCHING_KEY" || !mayTry()) throw error;
    }
    // A key of which nobody has heard yet: the issuer may have changed its keys.
    await load().catch((error: unknown) => {
      log.warn({ url, reason: reasonOf(error) }, "the issuer's keys cannot be fetched");
      throw keysDown();
    });
    return (await current())(header, token);
  };
}

const keysDown = () =>
  unavailable(
    "The keys of the token's issuer cannot be fetched, so nobody's token can be checked; try again in a minute.",
  );

async function fetchKeys(url: string): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`it answered ${response.status}`);
  const text = await response.text();
  if (text.length > MOST_CHARACTERS) throw new Error("its answer is too long");
  return JSON.parse(text) as JSONWebKeySet;
}
