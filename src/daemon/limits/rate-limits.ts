/** How much may come with one token, and from one tenant with all of its tokens. In the memory of the owner: a restart forgives. */
import type { Principal } from "../../doors/backend.ts";
import type { OverRate, RateLimits } from "../../doors/http/access/rate-guard.ts";
import { lruCache } from "../../engine/domain/collections/lru-cache.ts";
import type { LimitSettings } from "../config/daemon-schema.ts";
import { type Bucket, tokenBucket } from "./token-bucket.ts";

/** More callers than this at a time share what the least recent ones had used up. */
const MOST = 10_000;

/**
 * What a refused call costs of the caller's rate. Whoever waits as told loses nothing; a little over the limit is refused a little; at ten times the
 * limit, refusals use up all of it, so that a flood is answered with nothing but refusals, which are cheap, until it slows down.
 */
const REFUSED_COST = 0.1;

interface Account {
  readonly calls: Bucket;
  readonly bytes: Bucket;
  /** Refusals that are explained to a model; beyond them the request is not even read. */
  readonly words: Bucket;
}

export function rateLimits(settings: LimitSettings, nowMs: () => number): RateLimits {
  const accounts = lruCache<string, Account>(MOST);
  const account = (key: string, rate: number): Account => {
    const known = accounts.get(key);
    if (known !== undefined) return known;
    const opened = {
      calls: tokenBucket({ rate, burst: rate * settings.burst_seconds }),
      bytes: tokenBucket({
        rate: settings.bytes_per_second,
        burst: settings.bytes_per_second * settings.burst_seconds,
      }),
      words: tokenBucket({ rate: Math.max(1, rate / 10), burst: Math.max(1, rate / 10) }),
    };
    accounts.set(key, opened);
    return opened;
  };
  const ofToken = ({ name, tenant }: Principal) => account(JSON.stringify([tenant, name]), settings.calls_per_second);
  const ofTenant = ({ tenant }: Principal) => account(JSON.stringify([tenant]), settings.tenant_calls_per_second);
  return {
    admit(principal, bytes) {
      const now = nowMs();
      const own = ofToken(principal);
      return (
        over(own.calls.take(1, now), "This token", { every: true, tenant: false }) ??
        over(own.bytes.take(bytes, now), "What this token sends", { every: false, tenant: false }) ??
        over(ofTenant(principal).calls.take(1, now), "The tenant of this token", { every: true, tenant: true })
      );
    },
    refused(principal, { tenant }) {
      const { calls } = tenant ? ofTenant(principal) : ofToken(principal);
      calls.charge(REFUSED_COST, nowMs());
    },
    mayExplain: (principal) => ofToken(principal).words.take(1, nowMs()) === undefined,
  };
}

type Kind = Pick<OverRate, "every" | "tenant">;

const over = (seconds: number | undefined, what: string, kind: Kind): OverRate | undefined =>
  seconds === undefined ? undefined : { what, seconds, ...kind };
