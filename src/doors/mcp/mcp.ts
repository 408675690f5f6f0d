/**
 * The MCP door. One server for protocol 2026-07-28 and the 2025 ones; the transports (mcp-http.ts, mcp-stdio.ts) decide
 * which is spoken.
 *
 * The low-level `Server` is used on purpose: `McpServer.registerTool` would check, strip and default the arguments itself,
 * and the same input would then get another answer here than at the HTTP door or on the command line.
 */
import { Server, type ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Log, silentLog } from "../../engine/adapters/log.ts";
import { type Meter, secondsSince, silentMeter } from "../../engine/adapters/meter.ts";
import type { Following } from "../../engine/memory/following.ts";
import type { Tool } from "../../engine/tools/define.ts";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import { toFailure, unknownTool } from "../failures.ts";
import { listedTools, type Toolset } from "./advertise.ts";
import { mcpProtocolError } from "./mcp-failures.ts";
import { getPrompt, prompts, serverInstructions } from "./prompts.ts";
import { listedResources, readResource, resourceTemplates } from "./resources.ts";
import { forModels, toolResult, wantsWhole } from "./tool-result.ts";

export interface McpOptions {
  readonly tools: readonly Tool[];
  /** What tools/list shows. A tool that is not shown can still be called by whoever knows its name. */
  readonly toolset: Toolset;
  readonly butler: string;
  readonly version: string;
  /** The caller may look and change nothing: it is shown the tools that do so, and is refused the others. */
  readonly readOnly?: boolean | undefined;
  /** Whether the agent has our hooks; without a word it has none. */
  readonly hooks?: boolean;
  call(request: ToolRequest, following: Following): Promise<Outcome>;
  readonly log?: Log;
  readonly meter?: Meter | undefined;
}

/** `arguments` is not checked here: the tool checks it, as at every other door. */
const CallParams = z.looseObject({ name: z.string(), arguments: z.unknown().optional() });

/** Lists change only with a new version of the program, so a client may keep them for a while. */
const LIST_CACHE = { ttlMs: 300_000, cacheScope: "private" } as const;

export function mcpServer(options: McpOptions): Server {
  const { tools, toolset, butler, version } = options;
  const { log = silentLog, meter = silentMeter, readOnly = false } = options;
  const shown = readOnly ? tools.filter(({ effect }) => effect === "read") : tools;
  const server = new Server(
    { name: "butler-memory", title: `Butler Memory: ${butler}`, version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions: serverInstructions(butler, { hooks: options.hooks ?? false, readOnly }),
      cacheHints: {
        "tools/list": LIST_CACHE,
        "prompts/list": LIST_CACHE,
        "resources/list": LIST_CACHE,
        "resources/templates/list": LIST_CACHE,
      },
    },
  );
  server.onerror = (error) => log.warn({ err: error }, "mcp: message refused");

  const call = async (request: ToolRequest, context: ServerContext): Promise<Outcome> => {
    try {
      return forModels(request.tool, await options.call(request, followingOf(context)));
    } catch (error) {
      return { ok: false, error: toFailure(error, log) };
    }
  };

  server.setRequestHandler("tools/list", () =>
    measured(meter, "tools/list", "", async () => ({ tools: listedTools(shown, toolset) })),
  );
  server.setRequestHandler("tools/call", { params: CallParams }, ({ name, arguments: input = {} }, context) => {
    const tool = tools.find((known) => known.name === name);
    return measured(meter, "tools/call", tool?.name ?? "", async () => {
      if (tool === undefined) throw mcpProtocolError(unknownTool(name));
      const whole = wantsWhole(context.mcpReq._meta, input);
      return toolResult(tool, await call({ tool: name, input }, context), whole, log);
    });
  });
  server.setRequestHandler("resources/list", () => ({ resources: listedResources(butler) }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates }));
  server.setRequestHandler("resources/read", ({ params }, context) =>
    measured(meter, "resources/read", "", () => readResource(params.uri, (request) => call(request, context))),
  );
  server.setRequestHandler("prompts/list", () => ({ prompts }));
  server.setRequestHandler("prompts/get", ({ params }) =>
    measured(meter, "prompts/get", "", async () => getPrompt(params.name, params.arguments ?? {})),
  );
  return server;
}

/** `error_type` as the conventions name it: `tool_error` for an answer that is one, else the code of the protocol. */
async function measured<T extends object>(
  meter: Meter,
  method: string,
  tool: string,
  work: () => Promise<T>,
): Promise<T> {
  const started = performance.now();
  let error = "";
  try {
    const result = await work();
    if ("isError" in result && result.isError === true) error = "tool_error";
    return result;
  } catch (failure) {
    error = failure instanceof Error && "code" in failure ? String(failure.code) : "_OTHER";
    throw failure;
  } finally {
    meter.observe(
      "mcp_server_operation_duration_seconds",
      { mcp_method_name: method, gen_ai_tool_name: tool, error_type: error },
      secondsSince(started),
    );
  }
}

/** Steps are told only to a client that gave a token for them. Their numbers grow, as the protocol demands. */
function followingOf({ mcpReq }: ServerContext): Following {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { signal: mcpReq.signal };
  let last = -1;
  return {
    signal: mcpReq.signal,
    progress({ done, total, message }) {
      if (done <= last || mcpReq.signal.aborted) return;
      last = done;
      const params = { progressToken, progress: done, ...(total === undefined ? {} : { total }), message };
      // A client that has gone needs no news.
      mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
    },
  };
}
