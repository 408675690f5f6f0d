/**
 * What a client must know to get a token from somebody else (RFC 9728). Served only where an issuer is configured. Everywhere else, and for
 * the other addresses at which clients look for an authorization server, there is nothing: a 401 would make a client look on for ever.
 */
import type { Context, Hono } from "hono";
import { type DoorEnv, refuse } from "../guards.ts";

export interface ResourceServer {
  readonly issuer: string;
  /** The address of this server as clients know it; undefined: that of the request. */
  readonly resource: string | undefined;
}

const METADATA = "/.well-known/oauth-protected-resource";
/** Where clients look for an authorization server, which this is not. */
const NOT_HERE = ["/.well-known/*", "/authorize", "/token", "/register"];
const MCP_PATH = /^\/butlers\/[^/]+\/mcp$/;

export function serveMetadata(app: Hono<DoorEnv>, server: ResourceServer | undefined): void {
  if (server !== undefined) {
    app.get(METADATA, (c) => c.json(metadata(c, server, "")));
    app.get(`${METADATA}/*`, (c) => {
      const path = c.req.path.slice(METADATA.length);
      return MCP_PATH.test(path) ? c.json(metadata(c, server, path)) : nothing(c);
    });
  }
  for (const path of NOT_HERE) app.all(path, nothing);
}

const nothing = (c: Context): Response =>
  refuse(c, { code: "not_found", message: `There is nothing at ${c.req.path}.`, field: "path" });

const metadata = (c: Context, server: ResourceServer, path: string) => ({
  resource: `${baseOf(c, server)}${path}`,
  authorization_servers: [server.issuer],
  bearer_methods_supported: ["header"],
  resource_name: "Butler Memory",
});

/** For the header of a refusal: where the metadata of the address is that was asked for. */
export function metadataAddress(c: Context, server: ResourceServer): string {
  const { path } = c.req;
  return `${baseOf(c, server)}${METADATA}${MCP_PATH.test(path) ? path : ""}`;
}

/** The Host header was checked before. */
const baseOf = (c: Context, { resource }: ResourceServer): string =>
  (resource ?? `${new URL(c.req.url).protocol}//${c.req.header("host") ?? "127.0.0.1"}`).replace(/\/$/, "");
