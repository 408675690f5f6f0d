/** The other end of a thin line, in the owner: one request of an agent's connection, answered by the protocol's own library. */
import { isJSONRPCErrorResponse, isJSONRPCResultResponse, type Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { silentLog } from "../../../engine/adapters/log.ts";
import { type McpOptions, mcpServer } from "../mcp.ts";
import type { Era } from "./era.ts";
import type { Request } from "./json-rpc.ts";
import type { Handed } from "./thin-line.ts";

/** Resolves with the response as JSON; undefined when it was cancelled before. The server is a fresh one: nothing is kept between requests. */
export function answerRequest(
  options: McpOptions,
  { message, era }: Handed,
  tell: (notification: string) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const log = options.log ?? silentLog;
  return new Promise((done) => {
    const transport: Transport = {
      start: async () => undefined,
      async send(sent) {
        const text = JSON.stringify(sent);
        if (isJSONRPCResultResponse(sent) || isJSONRPCErrorResponse(sent)) {
          if (sent.id === message.id) end(text);
          return;
        }
        tell(text);
        // Nothing that could be subscribed to ever changes; kept open, it would hold the owner for as long as the agent lives.
        if (message.method === "subscriptions/listen") void server.close();
      },
      close: async () => transport.onclose?.(),
    };
    const server = serveStdio(() => mcpServer(options), {
      transport,
      onerror: (error) => log.warn({ err: error }, "mcp: message refused"),
    });
    function end(text: string | undefined) {
      signal.removeEventListener("abort", cancel);
      done(text);
      void server.close();
    }
    const cancel = () => end(undefined);
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) return cancel();
    const before = DECIDED[era];
    if (before) transport.onmessage?.(before);
    transport.onmessage?.(message);
  });
}

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Messages without an effect, by which the library learns what the connection has decided before. */
const DECIDED: Readonly<Partial<Record<Era, Omit<Request, "id">>>> = {
  legacy: { jsonrpc: "2.0", method: "notifications/initialized" },
  modern: {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: "nothing", _meta: ENVELOPE },
  },
};
