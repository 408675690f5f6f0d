/** The stdio door: the MCP server of one connection on two streams. Only protocol is ever written to `stdout`. */
import type { Readable, Writable } from "node:stream";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { silentLog } from "../../engine/adapters/log.ts";
import { type McpOptions, mcpServer } from "./mcp.ts";
import { lineTransport } from "./stdio-lines.ts";

export interface StdioOptions extends McpOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Default 8 MB, as at the HTTP door. */
  readonly maxLineBytes?: number;
  /** How long calls under way may still take after stdin has ended; default 10 s. */
  readonly drainMs?: number;
}

export interface StdioDoor {
  close(): Promise<void>;
  /** Settles when the connection is over, whoever ended it. */
  readonly closed: Promise<void>;
}

export function serveMcpStdio(options: StdioOptions): StdioDoor {
  const log = options.log ?? silentLog;
  let ended: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const transport = lineTransport({
    stdin: options.stdin,
    stdout: options.stdout,
    maxLineBytes: options.maxLineBytes ?? 8 * 1024 * 1024,
    drainMs: options.drainMs ?? 10_000,
    onEnded: ended,
  });
  const handle = serveStdio(() => mcpServer(options), {
    transport,
    onerror: (error) => log.warn({ err: error }, "mcp: stdio message refused"),
  });
  return { close: () => handle.close(), closed };
}
