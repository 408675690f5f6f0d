/**
 * The Streamable HTTP door of MCP, stateless: every request gets a fresh server, so that a restart, a second daemon or a
 * load balancer in front loses no session. The guards of the HTTP door have checked who is calling.
 */
import { type AuthInfo, createMcpHandler } from "@modelcontextprotocol/server";
import type { Log } from "../../engine/adapters/log.ts";
import type { Meter } from "../../engine/adapters/meter.ts";
import type { Following } from "../../engine/memory/following.ts";
import type { Tool } from "../../engine/tools/define.ts";
import type { Failure, Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import type { Backend, Principal } from "../backend.ts";
import type { Refusals } from "../refusals.ts";
import type { Toolset } from "./advertise.ts";
import { mcpServer } from "./mcp.ts";

export interface McpHttpOptions {
  readonly backend: Backend;
  readonly tools: readonly Tool[];
  readonly version: string;
  readonly maxBodyBytes: number;
  readonly log: Log;
  readonly meter?: Meter | undefined;
}

/** Of one authenticated request: who calls which butler, and what its headers add to each call. */
export interface McpCaller {
  readonly principal: Principal;
  readonly butler: string;
  readonly toolset: Toolset;
  readonly extras: Omit<ToolRequest, "tool" | "input">;
  /** Set when too much has come from this caller: every call of this request is answered with it. */
  readonly overRate?: Failure | undefined;
  readonly refusals?: Refusals | undefined;
}

interface ConnectedCaller extends McpCaller {
  /** Aborted when the client has closed its request. */
  readonly closed: AbortSignal;
}

export interface McpHttpDoor {
  /** `body`: of a request that was read already. */
  fetch(request: Request, caller: McpCaller, body?: unknown): Promise<Response>;
  /** Ends open streams; later requests are refused. */
  close(): Promise<void>;
}

export function mcpHttpDoor(options: McpHttpOptions): McpHttpDoor {
  const { backend, tools, version, log, meter } = options;
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const caller = authInfo?.extra?.caller as ConnectedCaller | undefined;
      if (caller === undefined) throw new Error("an MCP request came past the guards");
      const { principal, butler, toolset, extras, closed, overRate, refusals } = caller;
      const refuseCall = async (error: Failure): Promise<Outcome> => {
        refusals?.note({ kind: "rate", door: "mcp", by: principal, butler });
        return { ok: false, error };
      };
      // A client cancels by closing its request: without a session no other request can name it.
      const call = (request: ToolRequest, { signal, progress }: Following) =>
        overRate !== undefined
          ? refuseCall(overRate)
          : backend.invoke(
              principal,
              butler,
              { ...request, ...extras },
              { signal: signal ? AbortSignal.any([signal, closed]) : closed, progress },
            );
      return mcpServer({ tools, toolset, butler, version, call, log, meter, readOnly: principal.readOnly });
    },
    {
      maxRequestBodySize: options.maxBodyBytes,
      onerror: (error) => log.warn({ err: error }, "mcp: request refused"),
    },
  );
  return {
    fetch: (request, caller, body) =>
      handler.fetch(request, {
        authInfo: authInfoOf({ ...caller, closed: request.signal }),
        ...(body === undefined ? {} : { parsedBody: body }),
      }),
    close: () => handler.close(),
  };
}

/** The SDK hands its auth info through to the factory; the token itself is left out. */
function authInfoOf(caller: ConnectedCaller): AuthInfo {
  return { token: "", clientId: caller.principal.name, scopes: [], extra: { caller } };
}
