/** Serves the table of routes. */
import type { Context, Hono } from "hono";
import type { Failure } from "../../../engine/tools/outcome.ts";
import type { Backend, Principal } from "../../backend.ts";
import { callExtras, type DoorEnv, readJson, refuse, refusedButler, turnAway } from "../guards.ts";
import { route } from "../route.ts";
import type { ApiRoute, Asked } from "./define.ts";
import { LIVE_PATH, serveLive } from "./live.ts";
import { openApi } from "./openapi.ts";
import { apiRoutes, described } from "./routes.ts";

interface ApiParts {
  readonly backend: Backend;
  readonly local?: Principal;
  readonly maxBodyBytes: number;
  readonly version: string;
  /** Aborting ends open streams. */
  readonly signal?: AbortSignal;
}

export function serveApi(app: Hono<DoorEnv>, parts: ApiParts): void {
  for (const path of new Set(apiRoutes.map((one) => one.path))) {
    const own = apiRoutes.filter((one) => one.path === path);
    const methods = own.map((one) => [one.method, (c: Context<DoorEnv>) => answer(parts, one, c)] as const);
    route(app, Object.fromEntries(methods), path);
  }
  route(app, { GET: (c) => serveLive(parts, c) }, LIVE_PATH);
  route(app, { GET: async (c) => c.json(openApi(described, parts.version)) }, "/api/openapi.json");
}

async function answer(parts: ApiParts, asked: ApiRoute, c: Context<DoorEnv>): Promise<Response> {
  const { backend, maxBodyBytes } = parts;
  const principal = c.get("principal");
  const params: Readonly<Record<string, string>> = c.req.param();
  if (params.name !== undefined) {
    const refused = refusedButler(principal, params.name, await backend.butlers());
    if (refused !== undefined) return turnAway(c, refused, { butler: params.name });
  }
  const extras = callExtras(c, parts.local !== undefined);
  if ("code" in extras) return refuse(c, extras);
  const body = asked.method === "GET" ? undefined : await readJson(c.req.raw, maxBodyBytes);
  if (body?.ok === false) return refuse(c, body.failure, body.status);
  const given = (body?.value ?? c.req.query()) as Asked["given"];
  // A refusal of the memory itself is written down where it is called.
  const refusedInside = new Set<Failure>();
  const watched: Backend = {
    ...backend,
    async invoke(...call) {
      const outcome = await backend.invoke(...call);
      if (!outcome.ok) refusedInside.add(outcome.error);
      return outcome;
    },
  };
  const outcome = await asked.run({ backend: watched, principal, params, given, extras, signal: c.req.raw.signal });
  if (outcome.ok) return c.json(outcome.answer);
  if (refusedInside.has(outcome.error)) return refuse(c, outcome.error);
  return turnAway(c, outcome.error, params.name === undefined ? {} : { butler: params.name });
}
