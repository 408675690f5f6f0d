/** The two HTTP doors of an owner's process: the socket of the home, for local processes, and the port, for whoever has a token. */
import type { RequestListener } from "node:http";
import { fileURLToPath } from "node:url";
import { getRequestListener } from "@hono/node-server";
import type { DaemonSettings } from "../../daemon/config/daemon-schema.ts";
import type { Home } from "../../daemon/home.ts";
import { rateLimits } from "../../daemon/limits/rate-limits.ts";
import { isJwt, jwtChecker } from "../../daemon/oauth/check-jwt.ts";
import type { Owner } from "../../daemon/owner/owner.ts";
import { tenantOf } from "../../daemon/roster/roster.ts";
import { tokenChecker } from "../../daemon/tokens/check-token.ts";
import { noteLastUses } from "../../daemon/tokens/last-use.ts";
import { type Backend, type HomeReads, inTenant } from "../../doors/backend.ts";
import { pageSessions } from "../../doors/http/access/page-sessions.ts";
import { rateGate } from "../../doors/http/access/rate-gate.ts";
import { httpApp } from "../../doors/http/http.ts";
import type { MetricsDoor } from "../../doors/http/metrics-route.ts";
import type { Refusals } from "../../doors/refusals.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import type { Log } from "../../engine/adapters/log.ts";
import type { Meter } from "../../engine/adapters/meter.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import { tools } from "../../engine/tools/index.ts";
import type { HookAnswerer } from "../../hosts/hooks/answer-hook.ts";
import { version } from "../version.ts";
import type { LocalCallers } from "./local-callers.ts";

/** Where the build puts the pages. */
const WEB = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../dist/web" : "../../web", import.meta.url),
);

export interface OwnerDoorParts {
  readonly home: Home;
  readonly settings: DaemonSettings;
  readonly log: Log;
  readonly owner: Owner;
  readonly refusals: Refusals;
  readonly callers: LocalCallers;
  readonly hook: HookAnswerer;
  readonly reads: HomeReads;
  readonly meter: Meter | undefined;
  /** Absent where nothing is measured. */
  readonly metrics: MetricsDoor | undefined;
  /** Why a changed roster is not in force. */
  rosterFault(): string | undefined;
  /** The names under which a request on the port may come. */
  hostNames(): readonly string[];
  /** Ends open streams. */
  readonly signal: AbortSignal;
}

export function ownerDoors(parts: OwnerDoorParts): {
  readonly socket: RequestListener;
  readonly port: RequestListener;
} {
  const { home, log, owner, callers, hook, reads, signal, meter, metrics } = parts;
  const uses = noteLastUses(home, (error) => log.warn({ reason: reasonOf(error) }, "last uses of tokens are not kept"));
  const check = tokenChecker(home, { used: uses.used });
  const { oauth, limits } = parts.settings;
  const checkJwt = oauth === undefined ? undefined : jwtChecker({ settings: oauth, clock: systemClock, log });
  const health: Backend["health"] = async () => {
    const fault = parts.rosterFault();
    return { ...(await owner.health()), ...(fault === undefined ? {} : { roster: fault }) };
  };
  const common = {
    tools,
    authenticate: async (token: string) => (checkJwt && isJwt(token) ? checkJwt(token) : check(token)),
    refusals: parts.refusals,
    resourceServer: oauth && { issuer: oauth.issuer, resource: oauth.resource },
    log,
    version,
    tokenLocation: home.tokenFile,
    signal,
    meter,
    metrics,
    allowedHosts: parts.hostNames,
    sessions: pageSessions(),
    webFolder: WEB,
  };
  // On the socket a hook speaks for the butler it names, as an agent and not as the person who owns the home.
  const localHook: Backend["hook"] = (_, told) => hook(callers.transcript(told.butler), told, true);
  const portHook: Backend["hook"] = (principal, told) =>
    hook(inTenant(principal, tenantOf(owner.roster(), told.butler)), told, false);
  const socket = httpApp({
    ...common,
    backend: { ...owner, health, hook: localHook, home: reads },
    local: callers.unnamed,
  });
  const nowMs = () => performance.now();
  const rates = rateLimits(limits, nowMs);
  const gate = rateGate({ rates, refusals: parts.refusals, nowMs });
  const port = httpApp({
    ...common,
    gate,
    maxBodyBytes: limits.max_body_bytes,
    rates,
    backend: { ...owner, health, hook: portHook, home: reads },
  });
  return { socket: getRequestListener(socket.fetch), port: gate.before(getRequestListener(port.fetch)) };
}
