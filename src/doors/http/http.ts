/** The HTTP door: tools as JSON, MCP, health and a front page. The same app serves TCP and the owner's local socket. */
import { type Context, Hono } from "hono";
import type { Log } from "../../engine/adapters/log.ts";
import type { Meter } from "../../engine/adapters/meter.ts";
import type { Tool } from "../../engine/tools/define.ts";
import { type Backend, type Principal, through } from "../backend.ts";
import { toFailure } from "../failures.ts";
import type { Refusals } from "../refusals.ts";
import { type PageSessions, pageSessions } from "./access/page-sessions.ts";
import type { RateGate } from "./access/rate-gate.ts";
import { guardRate, type RateLimits } from "./access/rate-guard.ts";
import { metadataAddress, type ResourceServer, serveMetadata } from "./access/resource-metadata.ts";
import { CODE_PATH, offerCode, sessionOf, signIn, signOut, whoAmI } from "./access/session-routes.ts";
import { serveWebFiles } from "./access/web-files.ts";
import { serveApi } from "./api/serve.ts";
import { callTool, listButlers, readiness } from "./butler-routes.ts";
import {
  type Authenticate,
  type DoorEnv,
  guardCaller,
  guardHost,
  guardOrigin,
  guardPost,
  refuse,
  trustLocal,
} from "./guards.ts";
import { answerHook } from "./hook-route.ts";
import { answerMcp, mcpLoader } from "./mcp-route.ts";
import { answerMetrics, answerMetricsTo, type MetricsDoor } from "./metrics-route.ts";
import { probeReadiness, showFrontPage } from "./open-routes.ts";
import { route } from "./route.ts";

export interface HttpOptions {
  readonly backend: Backend;
  readonly tools: readonly Tool[];
  readonly authenticate: Authenticate;
  /** Set on the local socket: no token and no Host check, every request comes from this principal. */
  readonly local?: Principal;
  /** `host:port` as in the Host header; an entry without port stands for every port. See `loopbackHosts`. */
  readonly allowedHosts: readonly string[] | (() => readonly string[]);
  /** How much a caller may ask for; absent: as much as it likes, as on the local socket. */
  readonly rates?: RateLimits | undefined;
  /** What stands in front of the app and refuses those who go on; told here who they are. */
  readonly gate?: RateGate | undefined;
  /** Where those are counted who are turned away. */
  readonly refusals?: Refusals | undefined;
  /** Who gives out tokens besides this home; absent: nobody. */
  readonly resourceServer?: ResourceServer | undefined;
  readonly maxBodyBytes?: number;
  readonly log: Log;
  readonly version: string;
  /** Where tokens are kept, for the front page. Words or a path, never a token. */
  readonly tokenLocation?: string;
  /** Of the pages; a code that the socket gives out is redeemed on the port. */
  readonly sessions?: PageSessions;
  /** The built pages; absent where there are none. */
  readonly webFolder?: string;
  /** Absent: nothing is measured here. */
  readonly metrics?: MetricsDoor | undefined;
  readonly meter?: Meter | undefined;
  /** Aborting ends open MCP streams, so that the server behind can close. */
  readonly signal?: AbortSignal;
}

const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Routes that are added to the returned app later are behind the same guards. */
export function httpApp(options: HttpOptions): Hono<DoorEnv> {
  const { authenticate, local, log, version, metrics, allowedHosts: hosts } = options;
  const limited = options.rates !== undefined;
  const door = {
    ...options,
    backend: through(options.backend, "http", limited),
    maxBodyBytes: options.maxBodyBytes ?? MAX_BODY_BYTES,
    sessions: options.sessions ?? pageSessions(),
  };
  const mcp = mcpLoader({ ...door, backend: through(options.backend, "mcp", limited) });

  const app = new Hono<DoorEnv>();
  app.onError((error, c) => refuse(c, toFailure(error, log)));
  app.notFound((c) => refuse(c, { code: "not_found", message: `There is nothing at ${c.req.path}.`, field: "path" }));

  app.use(plainHeaders);
  app.use(async (c, next) => {
    c.set("refusals", options.refusals);
    return next();
  });
  if (local === undefined) app.use(guardHost(typeof hosts === "function" ? hosts : () => hosts));
  app.use(guardOrigin);

  app.get("/healthz", (c) => c.json({ ok: true, version }));
  app.get("/", (c) => showFrontPage(door, c));
  app.get("/readyz", (c, next) => probeReadiness(door, c, next));

  if (metrics?.open) app.get("/metrics", (c) => answerMetrics(metrics, c));

  serveMetadata(app, options.resourceServer);
  serveWebFiles(app, options.webFolder);

  app.post("/api/session", guardPost(door.maxBodyBytes), (c) => signIn(door, c));

  const { resourceServer } = options;
  const metadata = (c: Context) => (resourceServer === undefined ? undefined : metadataAddress(c, resourceServer));
  app.use(local === undefined ? guardCaller(authenticate, sessionOf(door.sessions), metadata) : trustLocal(local));
  if (options.rates !== undefined) app.use(guardRate(options.rates, options.gate, door.maxBodyBytes));
  app.use(guardPost(door.maxBodyBytes));

  const mcpDoor = (c: Context<DoorEnv, "/butlers/:name/mcp">) => answerMcp(door, mcp, c, c.req.param("name"));
  route(app, { GET: (c) => readiness(door, c) }, "/readyz");
  route(app, { GET: (c) => answerMetricsTo(c.get("principal"), metrics, c) }, "/metrics");
  route(app, { GET: (c) => listButlers(door, c) }, "/api/butlers");
  route(app, { POST: (c) => callTool(door, c, c.req.param()) }, "/api/butlers/:name/tools/:tool");
  route(
    app,
    { GET: (c) => whoAmI(door, c), POST: (c) => signIn(door, c), DELETE: (c) => signOut(door, c) },
    "/api/session",
  );
  if (local !== undefined) route(app, { POST: (c) => offerCode(door, c) }, CODE_PATH);
  serveApi(app, { ...door, backend: through(options.backend, "pages", limited) });
  route(app, { POST: (c) => answerHook(door, c, c.req.param()) }, "/hooks/:agent/:event");
  route(app, { POST: mcpDoor, GET: mcpDoor, DELETE: mcpDoor }, "/butlers/:name/mcp");
  return app;
}

async function plainHeaders(c: Context, next: () => Promise<void>): Promise<void> {
  await next();
  c.res.headers.set("X-Content-Type-Options", "nosniff");
  c.res.headers.set("Cross-Origin-Resource-Policy", "same-origin");
  c.res.headers.set("Referrer-Policy", "no-referrer");
  if (!c.res.headers.has("Cache-Control")) c.res.headers.set("Cache-Control", "no-store");
}
