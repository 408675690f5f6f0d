/**
 * JSON-RPC lines over two streams. Differs from the SDK's stdio transport where that one loses work: a line that is not
 * JSON is answered instead of swallowed, an overlong line is dropped instead of ending the connection, and when stdin ends
 * the calls under way are answered before the connection closes (`printf … | butler mcp` would otherwise print nothing).
 */
import type { Readable, Writable } from "node:stream";
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCNotification,
  PARSE_ERROR,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/server";
import { addChunk, endLines, type LineBuffer, lineBuffer } from "./line-buffer.ts";

export interface LineOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly maxLineBytes: number;
  /** How long calls under way may still take after stdin has ended. */
  readonly drainMs: number;
  onEnded(): void;
}

interface Connection {
  readonly options: LineOptions;
  /** The SDK puts its callbacks on this object. */
  readonly transport: Transport;
  readonly buffer: LineBuffer;
  readonly onData: (chunk: Buffer | string) => void;
  readonly onEnd: () => void;
  readonly onBroken: (error: Error) => void;
  /** Requests that are not answered yet. */
  readonly pending: Set<RequestId>;
  ending: boolean;
  closed: boolean;
  drainTimer: NodeJS.Timeout | undefined;
}

const INVALID_REQUEST = -32600;

export function lineTransport(options: LineOptions): Transport {
  const { maxLineBytes } = options;
  const transport: Transport = {
    start: async () => start(connection),
    send: (message) => send(connection, message),
    close: async () => close(connection),
  };
  const buffer = lineBuffer({
    maxBytes: maxLineBytes,
    onLine: (line) => receive(connection, line),
    onOverlong() {
      const message = `Invalid request: a message may have at most ${maxLineBytes} bytes.`;
      refuse(connection, null, INVALID_REQUEST, message);
    },
  });
  const connection: Connection = {
    options,
    transport,
    buffer,
    onData: (chunk) => addChunk(buffer, chunk),
    onEnd: () => drain(connection),
    onBroken(error) {
      transport.onerror?.(error);
      close(connection);
    },
    pending: new Set(),
    ending: false,
    closed: false,
    drainTimer: undefined,
  };
  return transport;
}

function start({ options, onData, onEnd, onBroken }: Connection): void {
  const { stdin, stdout } = options;
  // The error listener stays for good: a reader that went away must not become an uncaught EPIPE.
  stdout.on("error", onBroken);
  stdin.on("data", onData).on("end", onEnd).on("close", onEnd).on("error", onBroken);
  if (stdin.readableEnded || stdin.destroyed) onEnd();
}

function receive(connection: Connection, line: string): void {
  const { transport, pending } = connection;
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch (error) {
    refuse(connection, null, PARSE_ERROR, "Parse error: the line is not JSON.");
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    return;
  }
  if (isJSONRPCRequest(message)) {
    pending.add(message.id);
    transport.onmessage?.(message);
  } else if (isJSONRPCNotification(message)) {
    // A cancelled call is never answered, so nobody may wait for it.
    const cancelled = cancelledBy(message);
    if (cancelled !== undefined) pending.delete(cancelled);
    transport.onmessage?.(message);
  } else if (isResponse(message)) {
    transport.onmessage?.(message);
  } else {
    refuse(connection, idOf(message), INVALID_REQUEST, "Invalid request: the line is not a JSON-RPC 2.0 message.");
  }
}

async function send(connection: Connection, message: JSONRPCMessage): Promise<void> {
  const { options, pending } = connection;
  if (connection.closed) throw new Error("the stdio connection is closed");
  await new Promise<void>((resolve) => {
    // A failed write also raises "error", which closes the connection.
    options.stdout.write(`${JSON.stringify(message)}\n`, () => resolve());
  });
  if (!isResponse(message)) return;
  if (message.id !== undefined) pending.delete(message.id);
  if (connection.ending && pending.size === 0) close(connection);
}

function refuse({ closed, options }: Connection, id: RequestId | null, code: number, message: string): void {
  if (!closed) options.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`);
}

/** stdin has ended: closes when the requests under way are answered, or `drainMs` later. */
function drain(connection: Connection): void {
  if (connection.ending) return;
  connection.ending = true;
  endLines(connection.buffer);
  if (connection.pending.size === 0) close(connection);
  else connection.drainTimer = setTimeout(() => close(connection), connection.options.drainMs);
}

function close(connection: Connection): void {
  if (connection.closed) return;
  connection.closed = true;
  const { options, transport, onData, onEnd, onBroken } = connection;
  clearTimeout(connection.drainTimer);
  options.stdin.off("data", onData).off("end", onEnd).off("close", onEnd).off("error", onBroken);
  options.stdin.pause();
  transport.onclose?.();
  options.onEnded();
}

const isResponse = (message: unknown) => isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);

const cancelledBy = ({ method, params }: JSONRPCNotification): RequestId | undefined =>
  method === "notifications/cancelled" ? requestId(params?.requestId) : undefined;

const idOf = (message: unknown): RequestId | null =>
  (typeof message === "object" && message !== null && "id" in message ? requestId(message.id) : undefined) ?? null;

const requestId = (id: unknown): RequestId | undefined =>
  typeof id === "string" || typeof id === "number" ? id : undefined;
