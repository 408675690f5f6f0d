/**
 * The Streamable HTTP door of MCP, stateless: every request gets a fresh server, so that a restart, a second daemon or a
 * load balancer in front loses no session. Who is calling was settled by the guards in front of it.
 */
import { type AuthInfo, createMcpHandler } from "@modelcontextprotocol/server";
import type { Log } from "../../engine/adapters/log.ts";
import type { Tool } from "../../engine/tools/define.ts";
import type { ToolRequest } from "../../engine/tools/outcome.ts";
import type { Backend, Principal } from "../backend.ts";
import type { Toolset } from "./advertise.ts";
import { mcpServer } from "./mcp.ts";

export interface McpHttpOptions {
  readonly backend: Backend;
  readonly tools: readonly Tool[];
  readonly version: string;
  readonly maxBodyBytes: number;
  readonly log: Log;
}

/** One authenticated request: who asks, of which butler, and what its headers add to each call. */
export interface McpVisit {
  readonly principal: Principal;
  readonly butler: string;
  readonly toolset: Toolset;
  readonly extras: Omit<ToolRequest, "tool" | "input">;
}

export interface McpHttpDoor {
  /** `body`: what has been read of the request already. */
  fetch(request: Request, visit: McpVisit, body?: unknown): Promise<Response>;
  /** Ends open streams; later requests are refused. */
  close(): Promise<void>;
}

export function mcpHttpDoor(options: McpHttpOptions): McpHttpDoor {
  const { backend, tools, version, log } = options;
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const visit = authInfo?.extra?.visit as McpVisit | undefined;
      if (visit === undefined) throw new Error("an MCP request came past the guards");
      const { principal, butler, toolset, extras } = visit;
      const call = (request: ToolRequest) => backend.invoke(principal, butler, { ...request, ...extras });
      return mcpServer({ tools, toolset, butler, version, call, log });
    },
    {
      maxRequestBodySize: options.maxBodyBytes,
      onerror: (error) => log.warn({ err: error }, "mcp: request refused"),
    },
  );
  return {
    fetch: (request, visit, body) =>
      handler.fetch(request, { authInfo: passport(visit), ...(body === undefined ? {} : { parsedBody: body }) }),
    close: () => handler.close(),
  };
}

/** The SDK hands its auth info through to the factory; the token itself stays outside. */
function passport(visit: McpVisit): AuthInfo {
  return { token: "", clientId: visit.principal.name, scopes: [], extra: { visit } };
}
