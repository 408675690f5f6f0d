/** The routes that need no token: the front page, and the yes or no of a readiness probe. */
import type { Context, Next } from "hono";
import type { Log } from "../../engine/adapters/log.ts";
import type { Backend, ButlerInfo, Principal } from "../backend.ts";
import { toFailure } from "../failures.ts";
import { type Authenticate, bearerOf, type DoorEnv, mayUse } from "./guards.ts";
import { frontPage, PAGE_HEADERS } from "./page.ts";

interface OpenParts {
  readonly backend: Backend;
  readonly authenticate: Authenticate;
  readonly local?: Principal;
  readonly log: Log;
  readonly version: string;
  readonly tokenLocation?: string;
}

export async function showFrontPage(parts: OpenParts, c: Context<DoorEnv>): Promise<Response> {
  const { version } = parts;
  const caller = parts.local ?? (await bearerOf(c, parts.authenticate));
  const all = caller === undefined ? "hidden" : await butlersOrNone(parts);
  const butlers = caller && all !== "hidden" ? all?.filter((butler) => mayUse(caller, butler)) : all;
  const origin = `${new URL(c.req.url).protocol}//${c.req.header("host") ?? "127.0.0.1"}`;
  const page = frontPage({ version, origin, butlers, tokenLocation: caller && parts.tokenLocation });
  return c.html(page, 200, PAGE_HEADERS);
}

/** The front page must also come up when the backend does not answer. */
async function butlersOrNone({ backend, log }: OpenParts): Promise<readonly ButlerInfo[] | undefined> {
  try {
    return await backend.butlers();
  } catch (error) {
    toFailure(error, log);
    return undefined;
  }
}

/** A probe of systemd or a load balancer has no token: it is told yes or no, and nothing about the butlers. */
export async function probeReadiness(parts: OpenParts, c: Context<DoorEnv>, next: Next): Promise<Response | undefined> {
  if (parts.local !== undefined || c.req.header("authorization") !== undefined) {
    await next();
    return undefined;
  }
  const { ok } = await parts.backend.health();
  return c.json({ ok, version: parts.version }, ok ? 200 : 503);
}
