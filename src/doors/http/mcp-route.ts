/** `/butlers/:name/mcp`: Streamable HTTP of one butler. */
import type { Context } from "hono";
import type { Backend, Principal } from "../backend.ts";
import type { McpHttpDoor, McpHttpOptions } from "../mcp/mcp-http.ts";
import { callExtras, type DoorEnv, isSmall, readJson, refuse, refusedButler, turnAway } from "./guards.ts";

interface McpParts extends McpHttpOptions {
  readonly backend: Backend;
  readonly local?: Principal;
  readonly signal?: AbortSignal;
}

type McpLoader = () => Promise<McpHttpDoor>;

/** The protocol's library takes 80 ms to load, which the first hook after a start would wait for: it is loaded by the first MCP request. */
export function mcpLoader(parts: McpParts): McpLoader {
  const { backend, tools, version, maxBodyBytes, log, meter } = parts;
  let mcp: Promise<McpHttpDoor> | undefined;
  parts.signal?.addEventListener("abort", () => void mcp?.then((door) => door.close()), { once: true });
  return () => {
    mcp ??= import("../mcp/mcp-http.ts").then(({ mcpHttpDoor }) =>
      mcpHttpDoor({ backend, tools, version, maxBodyBytes, log, meter }),
    );
    return mcp;
  };
}

export async function answerMcp(
  parts: McpParts,
  load: McpLoader,
  c: Context<DoorEnv>,
  butler: string,
): Promise<Response> {
  const principal = c.get("principal");
  const refused = refusedButler(principal, butler, await parts.backend.butlers());
  if (refused !== undefined) return turnAway(c, refused, { butler });
  const extras = callExtras(c, parts.local !== undefined);
  if ("code" in extras) return refuse(c, extras);
  const toolset = c.req.query("tools") === "full" ? "full" : "core";
  const overRate = c.get("overRate");
  const caller = { principal, butler, toolset, extras, overRate, refusals: c.get("refusals") } as const;
  if (c.req.method !== "POST" || isSmall(c)) return (await load()).fetch(c.req.raw, caller);
  const body = await readJson(c.req.raw, parts.maxBodyBytes);
  return body.ok ? (await load()).fetch(c.req.raw, caller, body.value) : refuse(c, body.failure, body.status);
}
