/** The HTTP door: tools as JSON, MCP, health and a front page. The same app serves TCP and the owner's local socket. */
import type { ServerResponse } from "node:http";
import { type Context, Hono } from "hono";
import type { Log } from "../../engine/adapters/log.ts";
import type { Tool } from "../../engine/tools/define.ts";
import { httpStatus, toFailure, unknownTool, wireFailure } from "../failures.ts";
import type { ButlerInfo, Host, Principal } from "../host.ts";
import type { McpHttpDoor } from "../mcp/mcp-http.ts";
import {
  type Authenticate,
  bearerOf,
  callExtras,
  type DoorEnv,
  guardBearer,
  guardHost,
  guardOrigin,
  guardPost,
  isSmall,
  mayEnter,
  readJson,
  refuse,
  trustLocal,
  visitRefused,
} from "./guards.ts";
import { frontPage, PAGE_HEADERS } from "./page.ts";

export interface HttpOptions {
  readonly host: Host;
  readonly tools: readonly Tool[];
  readonly authenticate: Authenticate;
  /** Set on the local socket: no token and no Host check, every request comes from this principal. */
  readonly local?: Principal;
  /** `host:port` as in the Host header; an entry without port stands for every port. See `loopbackHosts`. */
  readonly allowedHosts: readonly string[] | (() => readonly string[]);
  readonly maxBodyBytes?: number;
  readonly log: Log;
  readonly version: string;
  /** Where tokens are kept, for the front page. Words or a path, never a token. */
  readonly tokenPlace?: string;
  /** Aborting ends open MCP streams, so that the server behind can close. */
  readonly signal?: AbortSignal;
}

/** Routes added to the returned app later stand behind the same guards. */
export function httpApp(options: HttpOptions): Hono<DoorEnv> {
  const { host, tools, authenticate, local, log, version } = options;
  const maxBodyBytes = options.maxBodyBytes ?? 8 * 1024 * 1024;
  const hosts = options.allowedHosts;
  // The protocol's library takes 80 ms to load, which the first hook of a house that just starts would wait for.
  let mcp: Promise<McpHttpDoor> | undefined;
  const mcpDoor = () => {
    mcp ??= import("../mcp/mcp-http.ts").then(({ mcpHttpDoor }) =>
      mcpHttpDoor({ host, tools, version, maxBodyBytes, log }),
    );
    return mcp;
  };
  options.signal?.addEventListener("abort", () => void mcp?.then((door) => door.close()), { once: true });

  const app = new Hono<DoorEnv>();
  app.onError((error, c) => refuse(c, toFailure(error, log)));
  app.notFound((c) => refuse(c, { code: "not_found", message: `There is nothing at ${c.req.path}.`, field: "path" }));

  app.use(plainHeaders);
  if (local === undefined) app.use(guardHost(typeof hosts === "function" ? hosts : () => hosts));
  app.use(guardOrigin);

  app.get("/healthz", (c) => c.json({ ok: true, version }));
  app.get("/", async (c) => {
    const visitor = local ?? (await bearerOf(c, authenticate));
    const all = visitor === undefined ? "hidden" : await butlersOrNone(host, log);
    const butlers = visitor && all !== "hidden" ? all?.filter((butler) => mayEnter(visitor, butler)) : all;
    const origin = `${new URL(c.req.url).protocol}//${c.req.header("host") ?? "127.0.0.1"}`;
    const page = frontPage({ version, origin, butlers, tokenPlace: visitor && options.tokenPlace });
    return c.html(page, 200, PAGE_HEADERS);
  });

  // A probe of systemd or a load balancer has no token: it hears yes or no, and nothing about the house.
  app.get("/readyz", async (c, next) => {
    if (local !== undefined || c.req.header("authorization") !== undefined) return next();
    const { ok } = await host.health();
    return c.json({ ok, version }, ok ? 200 : 503);
  });

  app.use(local === undefined ? guardBearer(authenticate) : trustLocal(local));
  app.use(guardPost(maxBodyBytes));

  app.get("/readyz", async (c) => {
    const health = await host.health();
    const { butler } = c.get("principal");
    const mine = health.butlers.filter(({ name }) => butler === "*" || butler === name);
    return c.json({ ...health, butlers: mine }, health.ok ? 200 : 503);
  });

  app.get("/api/butlers", async (c) => {
    const mine = (await host.butlers()).filter((butler) => mayEnter(c.get("principal"), butler));
    return c.json({ butlers: mine.map((butler) => ({ ...butler, mcp: mcpPath(butler.name) })) });
  });

  app.post("/api/butlers/:name/tools/:tool", async (c) => {
    const { name, tool } = c.req.param();
    const refused = visitRefused(c.get("principal"), name, await host.butlers());
    if (refused !== undefined) return refuse(c, refused);
    if (!tools.some((known) => known.name === tool)) return refuse(c, unknownTool(tool));
    const extras = callExtras(c, local !== undefined);
    if ("code" in extras) return refuse(c, extras);
    const body = await readJson(c.req.raw, maxBodyBytes);
    if (!body.ok) return refuse(c, body.failure, body.status);
    const outcome = await host.invoke(c.get("principal"), name, { tool, input: body.value, ...extras });
    return outcome.ok
      ? c.json(outcome.answer)
      : c.json({ error: wireFailure(outcome.error) }, httpStatus(outcome.error.code));
  });

  app.post("/hooks/:agent/:event", async (c) => {
    const { agent, event } = c.req.param();
    const butlers = await host.butlers();
    const butler = c.req.query("butler") ?? (butlers.length === 1 ? butlers[0]?.name : undefined);
    if (!host.hook) return refuse(c, { code: "not_found", message: "This house has no hooks.", field: "path" });
    if (butler === undefined) return refuse(c, whichButler(butlers.filter((one) => mayEnter(c.get("principal"), one))));
    const refused = visitRefused(c.get("principal"), butler, butlers);
    if (refused !== undefined) return refuse(c, refused);
    const body = await readJson(c.req.raw, maxBodyBytes);
    if (!body.ok) return refuse(c, body.failure, body.status);
    const project = c.req.header("x-butler-project") || undefined;
    const told = await host.hook(c.get("principal"), { agent, event, butler, input: body.value, project });
    if (!told.ok) return refuse(c, told.error);
    if (told.settled) await whenSent(c, told.settled);
    return told.answer === undefined ? c.body(null, 204) : c.json(told.answer);
  });

  app.on(["POST", "GET", "DELETE"], "/butlers/:name/mcp", async (c) => {
    const name = c.req.param("name");
    const refused = visitRefused(c.get("principal"), name, await host.butlers());
    if (refused !== undefined) return refuse(c, refused);
    const extras = callExtras(c, local !== undefined);
    if ("code" in extras) return refuse(c, extras);
    const toolset = c.req.query("tools") === "full" ? "full" : "core";
    const visit = { principal: c.get("principal"), butler: name, toolset, extras } as const;
    if (c.req.method !== "POST" || isSmall(c)) return (await mcpDoor()).fetch(c.req.raw, visit);
    const body = await readJson(c.req.raw, maxBodyBytes);
    return body.ok ? (await mcpDoor()).fetch(c.req.raw, visit, body.value) : refuse(c, body.failure, body.status);
  });

  otherMethods(app, "/readyz", "GET, HEAD");
  otherMethods(app, "/api/butlers", "GET, HEAD");
  otherMethods(app, "/api/butlers/:name/tools/:tool", "POST");
  otherMethods(app, "/butlers/:name/mcp", "POST, GET, DELETE");
  otherMethods(app, "/hooks/:agent/:event", "POST");
  return app;
}

const whichButler = (butlers: readonly ButlerInfo[]) => ({
  code: "invalid_input" as const,
  message: `Whose hook is it? Add ?butler= with one of: ${butlers.map(({ name }) => name).join(", ")}.`,
  field: "butler",
});

/**
 * Tells whether the answer that is about to be written has left. A hook that was cut off by its own limit has closed its connection, which
 * is seen one turn of the event loop later at the latest: also after a pause in which nothing was looked at.
 */
async function whenSent(c: Context<DoorEnv>, settled: (delivered: boolean) => void): Promise<void> {
  const { outgoing } = (c.env ?? {}) as { readonly outgoing?: ServerResponse };
  // Without a connection the answer is handed to the caller itself.
  if (outgoing === undefined) return settled(true);
  await new Promise((done) => setImmediate(done));
  if (outgoing.destroyed || outgoing.closed) return settled(false);
  let told = false;
  const once = (delivered: boolean) => {
    if (!told) settled(delivered);
    told = true;
  };
  outgoing.once("finish", () => once(true));
  outgoing.once("close", () => once(false));
}

const mcpPath = (butler: string): string => `/butlers/${encodeURIComponent(butler)}/mcp`;

/** OPTIONS names the methods but grants no other origin anything: there are no CORS headers at this door. */
function otherMethods(app: Hono<DoorEnv>, path: string, allow: string): void {
  app.options(path, (c) => c.body(null, 204, { Allow: allow }));
  app.all(path, (c) => {
    c.header("Allow", allow);
    const message = `${c.req.method} is not possible here; allowed: ${allow}.`;
    return refuse(c, { code: "invalid_input", message, field: "method" }, 405);
  });
}

async function plainHeaders(c: Context, next: () => Promise<void>): Promise<void> {
  await next();
  c.res.headers.set("X-Content-Type-Options", "nosniff");
  c.res.headers.set("Cross-Origin-Resource-Policy", "same-origin");
  c.res.headers.set("Referrer-Policy", "no-referrer");
  if (!c.res.headers.has("Cache-Control")) c.res.headers.set("Cache-Control", "no-store");
}

/** The front page must also come up when the house behind it does not. */
async function butlersOrNone(host: Host, log: Log): Promise<readonly ButlerInfo[] | undefined> {
  try {
    return await host.butlers();
  } catch (error) {
    toFailure(error, log);
    return undefined;
  }
}
