/**
 * The checks of an HTTP request before a butler is called. The order matters: Host and Origin first, because a page in a
 * browser can send requests here but can forge neither; then the token; then the type and size of the body.
 */
import type { Context, Env, MiddlewareHandler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Door } from "../../engine/adapters/meter.ts";
import type { Failure, ToolRequest } from "../../engine/tools/outcome.ts";
import type { ButlerInfo, Principal } from "../backend.ts";
import { statusOf, wireFailure } from "../failures.ts";
import { namedProject } from "../project-key.ts";
import { type Refusals, refusalKind } from "../refusals.ts";
import { SMALL_BYTES, tooMuchJson } from "./json-size.ts";

export interface DoorEnv extends Env {
  /** `refusals`: absent where nobody keeps them; `overRate`: why the calls of this request are refused, each with that reason. */
  Variables: {
    principal: Principal;
    refusals: Refusals | undefined;
    overRate: Failure | undefined;
    /** Whether the token or the session is still good, for answers that go on for long. Absent on the local socket. */
    stillValid: (() => Promise<boolean>) | undefined;
  };
}

/** Whose token it is; undefined for nobody's, and a failure where there is more to say about it. */
export type Authenticate = (token: string) => Promise<Principal | Failure | undefined>;

export const isPrincipal = (found: Principal | Failure | undefined): found is Principal =>
  found !== undefined && !("code" in found);

/** The Host headers of requests from this machine. */
export const loopbackHosts = (port: number): string[] => [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];

export function refuse(c: Context, failure: Failure, status: ContentfulStatusCode = statusOf(failure)): Response {
  if (failure.retry_after !== undefined) c.header("Retry-After", String(failure.retry_after));
  return c.json({ error: wireFailure(failure) }, status);
}

/** Refuses, and writes down who was turned away and why. */
export function turnAway(
  c: Context<DoorEnv>,
  failure: Failure,
  { butler, status = statusOf(failure) }: { readonly butler?: string; readonly status?: ContentfulStatusCode } = {},
): Response {
  const kind = status === 413 ? "size" : refusalKind(failure);
  const by: Principal | undefined = c.get("principal");
  if (kind !== undefined)
    c.get("refusals")?.note({ kind, door: doorOf(c.req.path), butler, ...(by === undefined ? {} : { by }) });
  return refuse(c, failure, status);
}

export function doorOf(path: string): Door {
  if (path.startsWith("/hooks/")) return "hook";
  if (path.startsWith("/butlers/")) return "mcp";
  return path.startsWith("/api/") && !path.includes("/tools/") ? "pages" : "http";
}

/** DNS rebinding: a foreign name that resolves to this machine still arrives with that foreign name in Host. */
export function guardHost(allowedHosts: () => readonly string[]): MiddlewareHandler<DoorEnv> {
  return async (c, next) => {
    const host = (c.req.header("host") ?? "").toLowerCase();
    if (allowedHosts().some((allowed) => names(allowed.toLowerCase(), host))) return next();
    const message = `This door does not answer to the host "${host}"; name it in BUTLER_ALLOWED_HOSTS of the daemon, without a port, or use 127.0.0.1.`;
    return turnAway(c, { code: "forbidden", message, field: "Host" });
  };
}

/** An entry without a port (a name behind a reverse proxy) stands for that name on every port. */
function names(allowed: string, host: string): boolean {
  return allowed === host || (!/:\d+$/.test(allowed) && host.replace(/:\d+$/, "") === allowed);
}

export const guardOrigin: MiddlewareHandler<DoorEnv> = async (c, next) => {
  const origin = c.req.header("origin");
  if (origin === undefined || isOriginOf(origin, (c.req.header("host") ?? "").toLowerCase())) return next();
  return turnAway(c, { code: "forbidden", message: "Pages of other origins may not call this door.", field: "Origin" });
};

/** An Origin never names the usual port of its protocol; some proxies write it into the Host header all the same. */
const USUAL_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

function isOriginOf(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { host: own, protocol } = new URL(origin);
  const usual = USUAL_PORTS[protocol];
  return own !== "" && (own === host || (usual !== undefined && `${own}:${usual}` === host));
}

const tokenIn = (c: Context): string | undefined => /^Bearer +(\S+) *$/i.exec(c.req.header("authorization") ?? "")?.[1];

/** The principal of a valid token, on routes that need none. */
export async function bearerOf(c: Context, authenticate: Authenticate): Promise<Principal | undefined> {
  const token = tokenIn(c);
  const found = token === undefined ? undefined : await authenticate(token);
  return isPrincipal(found) ? found : undefined;
}

const NO_TOKEN: Failure = {
  code: "unauthorized",
  message: 'A token is needed: send "Authorization: Bearer <token>"; butler token create makes one.',
};
const UNKNOWN_TOKEN: Failure = {
  code: "unauthorized",
  message: "This token is unknown or revoked; butler token list shows the valid ones.",
};

/** A page's session, by its cookie; only below `/api/`, which pages call. */
export type FindSession = (c: Context<DoorEnv>) => Promise<Principal | undefined>;

export function guardCaller(
  authenticate: Authenticate,
  findSession: FindSession,
  /** Where a client learns who gives out tokens, for the header of a refusal. */
  metadata: (c: Context<DoorEnv>) => string | undefined,
): MiddlewareHandler<DoorEnv> {
  return async (c, next) => {
    const token = tokenIn(c);
    const identify = () => (token === undefined ? findSession(c) : authenticate(token));
    const found = await identify();
    if (!isPrincipal(found)) {
      const failure = found ?? (token === undefined ? NO_TOKEN : UNKNOWN_TOKEN);
      if (failure.code === "unauthorized") {
        const where = metadata(c);
        const parts = [
          'realm="butler-memory"',
          ...(token === undefined ? [] : ['error="invalid_token"']),
          ...(where === undefined ? [] : [`resource_metadata="${where}"`]),
        ];
        c.header("WWW-Authenticate", `Bearer ${parts.join(", ")}`);
      }
      return turnAway(c, failure);
    }
    c.set("principal", found);
    c.set("stillValid", async () => isPrincipal(await identify()));
    return next();
  };
}

/** On the local socket no token is needed: only its owner may open the file. */
export function trustLocal(principal: Principal): MiddlewareHandler<DoorEnv> {
  return async (c, next) => {
    c.set("principal", principal);
    return next();
  };
}

/** A browser sends forms and plain text to other origins without a preflight request, so only JSON is accepted. */
export function guardPost(maxBodyBytes: number): MiddlewareHandler<DoorEnv> {
  return async (c, next) => {
    if (c.req.method !== "POST") return next();
    if (!/^application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(c.req.header("content-type") ?? "")) {
      const message = "The body must be JSON: send Content-Type: application/json.";
      return refuse(c, { code: "invalid_input", message, field: "Content-Type" }, 415);
    }
    if (Number(c.req.header("content-length") ?? 0) > maxBodyBytes)
      return turnAway(c, tooLarge(maxBodyBytes), { status: 413 });
    return next();
  };
}

/** A body whose length is given and small: the MCP library reads it itself. */
export const isSmall = (c: Context<DoorEnv>): boolean =>
  Number(c.req.header("content-length") ?? Number.POSITIVE_INFINITY) <= SMALL_BYTES;

export type Body =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: Failure; readonly status: 400 | 413 };

/** Counts bytes while reading, because a chunked body has no Content-Length. An empty body is a call without arguments. */
export async function readJson(request: Request, maxBodyBytes: number): Promise<Body> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBodyBytes) return { ok: false, failure: tooLarge(maxBodyBytes), status: 413 };
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  const much = tooMuchJson(bytes);
  if (much !== undefined) return { ok: false, failure: notTaken(much), status: 400 };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { ok: true, value: text.trim() === "" ? {} : JSON.parse(text) };
  } catch (error) {
    const why = error instanceof SyntaxError ? "is not valid JSON" : "is not UTF-8 text";
    return { ok: false, failure: notTaken(why), status: 400 };
  }
}

const notTaken = (why: string): Failure => ({ code: "invalid_input", message: `The body ${why}.`, field: "body" });

function tooLarge(maxBodyBytes: number): Failure {
  const message = `The body may have at most ${maxBodyBytes} bytes; send fewer rows at a time.`;
  return { code: "invalid_input", message, field: "body" };
}

/** Node reads each byte of a header as one character; a name such as "küche" was sent as UTF-8, and must be the one that it is elsewhere. */
export function headerText(c: Context<DoorEnv>, name: string): string | undefined {
  const value = c.req.header(name);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is outside of ASCII is looked for.
  if (value === undefined || /^[\x00-\x7f]*$/.test(value)) return value;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}

type Extras = Omit<ToolRequest, "tool" | "input">;

/** What the headers add to a call. A caller's clock counts only on the local socket: over TCP it could forge history. */
export function callExtras(c: Context<DoorEnv>, local: boolean): Extras | Failure {
  const now = c.req.header("x-butler-now");
  if (now !== undefined && !local) {
    const message = "X-Butler-Now is for local callers; over HTTP the butler's own clock counts.";
    return { code: "invalid_input", message, field: "X-Butler-Now" };
  }
  const idempotencyKey = headerText(c, "idempotency-key");
  const session = headerText(c, "x-butler-session");
  const project = headerText(c, "x-butler-project");
  const tenant = headerText(c, "x-butler-tenant");
  return {
    ...(idempotencyKey ? { idempotencyKey } : {}),
    ...(session ? { session } : {}),
    ...(project ? { project: namedProject(project) } : {}),
    ...(tenant ? { tenant } : {}),
    ...(now ? { now } : {}),
  };
}

/** For what is of the caller's own tenant alone: a tenant that is named beside it is refused, not passed over in silence. */
export function refusedTenant(c: Context<DoorEnv>): Failure | undefined {
  const named = headerText(c, "x-butler-tenant");
  if (!named || named === c.get("principal").tenant) return undefined;
  const message = "This is of the caller's own tenant alone; leave X-Butler-Tenant out.";
  return { code: "forbidden", message, field: "tenant" };
}

/** A butler with the role `memory` keeps memories for the others, so it accepts their tokens too. */
export function mayUse(principal: Principal, butler: ButlerInfo): boolean {
  return principal.butler === "*" || principal.butler === butler.name || butler.role === "memory";
}

/**
 * Why this principal may not call the butler `name`, if so. A token of one butler gets "forbidden" for butlers that do not exist too, so that
 * trying names does not tell which exist.
 */
export function refusedButler(principal: Principal, name: string, butlers: readonly ButlerInfo[]): Failure | undefined {
  const butler = butlers.find((known) => known.name === name);
  if (butler !== undefined && mayUse(principal, butler)) return undefined;
  if (principal.butler === "*" || principal.butler === name) {
    const known = butlers.filter((info) => mayUse(principal, info)).map((info) => info.name);
    return {
      code: "not_found",
      message: `There is no butler "${name}"; known: ${known.join(", ") || "none"}.`,
      field: "butler",
    };
  }
  const message = `This token speaks for the butler "${principal.butler}", not for "${name}".`;
  return { code: "forbidden", message, field: "butler" };
}
