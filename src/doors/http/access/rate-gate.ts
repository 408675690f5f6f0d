/**
 * Whoever was told to wait is refused until then before anything else looks at the request: neither is the token looked up nor a body read, so that a
 * caller who goes on sending takes little from the others (0.06 ms of CPU time instead of 0.14). One who waits as told notices nothing.
 */
import { createHash } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { lruCache } from "../../../engine/domain/collections/lru-cache.ts";
import type { Principal } from "../../backend.ts";
import { wireFailure } from "../../failures.ts";
import type { Refusals } from "../../refusals.ts";
import { doorOf } from "../guards.ts";
import { butlerIn, isMcpPath, type OverRate, type RateLimits, rateFailure } from "./rate-guard.ts";

interface Shutting {
  /** As the request has it; only its hash is kept. */
  readonly header: string;
  readonly path: string;
  readonly principal: Principal;
  readonly over: OverRate;
}

export interface RateGate {
  shut(shutting: Shutting): void;
  /** What is to be in front of the app. */
  before(listener: RequestListener): RequestListener;
}

interface Closed {
  readonly principal: Principal;
  readonly over: OverRate;
  readonly untilMs: number;
}

interface GateParts {
  readonly rates: Pick<RateLimits, "refused">;
  readonly refusals: Refusals | undefined;
  nowMs(): number;
}

/** What is behind the guard of rates; probes and pages are not, whatever token they bring. */
const GUARDED = /^\/(api|butlers|hooks)\//;
/** Beyond so many callers at a time, the others take the longer way. */
const MOST = 1_000;

/** Calls over MCP may be told why in the answer of a tool: they are shut out only when those answers are used up too. */
const keyOf = (header: string, path: string): string =>
  `${isMcpPath(path) ? "mcp" : "http"} ${createHash("sha256").update(header).digest("base64")}`;

export function rateGate({ rates, refusals, nowMs }: GateParts): RateGate {
  const closed = lruCache<string, Closed>(MOST);
  let latestMs = Number.NEGATIVE_INFINITY;
  return {
    shut({ header, path, principal, over }) {
      const untilMs = nowMs() + Math.max(1, Math.ceil(over.seconds)) * 1_000;
      latestMs = Math.max(latestMs, untilMs);
      closed.set(keyOf(header, path), { principal, over, untilMs });
    },
    before: (listener) => (incoming, outgoing) => {
      const now = nowMs();
      const { authorization } = incoming.headers;
      if (now >= latestMs || authorization === undefined) return listener(incoming, outgoing);
      const path = (incoming.url ?? "").split("?", 1)[0] ?? "";
      const found = GUARDED.test(path) ? closed.get(keyOf(authorization, path)) : undefined;
      if (found === undefined || now >= found.untilMs) return listener(incoming, outgoing);
      const { principal: by, over, untilMs } = found;
      rates.refused(by, over);
      refusals?.note({ kind: "rate", door: doorOf(path), butler: butlerIn(path), by });
      answer(incoming, outgoing, { what: over.what, seconds: (untilMs - now) / 1_000 });
    },
  };
}

function answer(incoming: IncomingMessage, outgoing: ServerResponse, over: Pick<OverRate, "what" | "seconds">): void {
  const failure = rateFailure(over);
  const body = JSON.stringify({ error: wireFailure(failure) });
  outgoing.writeHead(429, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    "Retry-After": String(failure.retry_after),
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
  });
  outgoing.end(incoming.method === "HEAD" ? undefined : body);
}
