/**
 * JSON-RPC lines over two streams. Differs from the SDK's stdio transport where that one loses work: a line that is not
 * JSON is answered instead of swallowed, an overlong line is dropped instead of ending the connection, and when stdin ends
 * the calls under way are answered before the door closes (`printf … | butler mcp` would otherwise print nothing).
 */
import type { Readable, Writable } from "node:stream";
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  PARSE_ERROR,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/server";

export interface LineOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly maxLineBytes: number;
  /** How long calls under way may still take after stdin has ended. */
  readonly drainMs: number;
  onEnded(): void;
}

const NEWLINE = 0x0a;
const INVALID_REQUEST = -32600;

export function lineTransport(options: LineOptions): Transport {
  const { stdin, stdout, maxLineBytes, drainMs } = options;
  const pending = new Set<RequestId>();
  let parts: Buffer[] = [];
  let size = 0;
  let skipping = false;
  let ending = false;
  let closed = false;
  let drainTimer: NodeJS.Timeout | undefined;

  const onData = (chunk: Buffer | string) => {
    let rest = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    for (let at = rest.indexOf(NEWLINE); at !== -1; at = rest.indexOf(NEWLINE)) {
      take(rest.subarray(0, at));
      endLine();
      rest = rest.subarray(at + 1);
    }
    take(rest);
  };

  const take = (piece: Buffer) => {
    if (skipping || piece.length === 0) return;
    size += piece.length;
    if (size > maxLineBytes) {
      parts = [];
      skipping = true;
      refuse(null, INVALID_REQUEST, `Invalid request: a message may have at most ${maxLineBytes} bytes.`);
    } else {
      parts.push(piece);
    }
  };

  const endLine = () => {
    const line = skipping ? "" : Buffer.concat(parts).toString("utf8").trim();
    parts = [];
    size = 0;
    skipping = false;
    if (line !== "") receive(line);
  };

  const receive = (line: string) => {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch (error) {
      refuse(null, PARSE_ERROR, "Parse error: the line is not JSON.");
      transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (isJSONRPCRequest(message)) {
      pending.add(message.id);
      transport.onmessage?.(message);
    } else if (isJSONRPCNotification(message)) {
      // A cancelled call is never answered, so nobody may wait for it.
      const cancelled = message.method === "notifications/cancelled" ? message.params?.requestId : undefined;
      if (typeof cancelled === "string" || typeof cancelled === "number") pending.delete(cancelled);
      transport.onmessage?.(message);
    } else if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
      transport.onmessage?.(message);
    } else {
      refuse(idOf(message), INVALID_REQUEST, "Invalid request: the line is not a JSON-RPC 2.0 message.");
    }
  };

  const refuse = (id: RequestId | null, code: number, message: string) => {
    if (!closed) stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`);
  };

  const onEnd = () => {
    if (ending) return;
    ending = true;
    if (size > 0) endLine();
    if (pending.size === 0) void close();
    else drainTimer = setTimeout(() => void close(), drainMs);
  };

  const onBroken = (error: Error) => {
    transport.onerror?.(error);
    void close();
  };

  const close = async () => {
    if (closed) return;
    closed = true;
    clearTimeout(drainTimer);
    stdin.off("data", onData).off("end", onEnd).off("close", onEnd).off("error", onBroken);
    stdin.pause();
    transport.onclose?.();
    options.onEnded();
  };

  const transport: Transport = {
    start: async () => {
      // The error listener stays for good: a reader that went away must not become an uncaught EPIPE.
      stdout.on("error", onBroken);
      stdin.on("data", onData).on("end", onEnd).on("close", onEnd).on("error", onBroken);
      if (stdin.readableEnded || stdin.destroyed) onEnd();
    },
    send: async (message: JSONRPCMessage) => {
      if (closed) throw new Error("the stdio connection is closed");
      await new Promise<void>((resolve) => {
        // A failed write also raises "error", which closes the door.
        stdout.write(`${JSON.stringify(message)}\n`, () => resolve());
      });
      if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
        if (message.id !== undefined) pending.delete(message.id);
        if (ending && pending.size === 0) await close();
      }
    },
    close,
  };
  return transport;
}

function idOf(message: unknown): RequestId | null {
  const id = typeof message === "object" && message !== null && "id" in message ? message.id : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
}
