/**
 * JSON-RPC lines over two streams. A line that is not JSON is answered, an overlong line is dropped and answered, and when stdin ends the
 * requests under way are answered before the connection closes (`printf … | butler mcp` would otherwise print nothing).
 */
import type { Readable, Writable } from "node:stream";
import { isRecord } from "../../../engine/domain/record.ts";
import {
  isNotification,
  isRequest,
  isRequestId,
  isResponse,
  type Message,
  type Request,
  type RequestId,
} from "./json-rpc.ts";
import { addChunk, endLines, type LineBuffer, lineBuffer } from "./line-buffer.ts";

export interface LineOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Default 8 MB, as at the HTTP door. */
  readonly maxLineBytes?: number | undefined;
  /** How long requests under way may still take after stdin has ended; default 10 s. */
  readonly drainMs?: number | undefined;
  /** Answered with `answer`, unless it is cancelled. */
  onRequest(request: Request): void;
  onNotification(notification: Message): void;
}

export interface Lines {
  /** Writes the response to a request; one that was cancelled gets none. */
  answer(id: RequestId, response: string): void;
  /** Writes any other message, as long as the connection is open. */
  write(message: string): void;
  close(): void;
  /** Settles when the connection is over, whoever ended it. */
  readonly closed: Promise<void>;
}

interface Connection {
  readonly options: LineOptions;
  readonly buffer: LineBuffer;
  readonly onData: (chunk: Buffer | string) => void;
  readonly onEnd: () => void;
  readonly onBroken: () => void;
  /** Requests that are not answered yet. */
  readonly pending: Set<RequestId>;
  ending: boolean;
  over: boolean;
  drainTimer: NodeJS.Timeout | undefined;
  ended(): void;
}

const MAX_LINE_BYTES = 8 * 1024 * 1024;
const DRAIN_MS = 10_000;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

export function openLines(options: LineOptions): Lines {
  const { maxLineBytes = MAX_LINE_BYTES } = options;
  let ended: () => void = () => undefined;
  const closed = new Promise<void>((done) => {
    ended = done;
  });
  const buffer = lineBuffer({
    maxBytes: maxLineBytes,
    onLine: (line) => receive(connection, line),
    onOverlong() {
      refuse(connection, null, INVALID_REQUEST, `Invalid request: a message may have at most ${maxLineBytes} bytes.`);
    },
  });
  const connection: Connection = {
    options,
    buffer,
    onData: (chunk) => addChunk(buffer, chunk),
    onEnd: () => drain(connection),
    onBroken: () => close(connection),
    pending: new Set(),
    ending: false,
    over: false,
    drainTimer: undefined,
    ended,
  };
  listen(connection);
  return {
    answer: (id, response) => answer(connection, id, response),
    write: (message) => write(connection, message),
    close: () => close(connection),
    closed,
  };
}

function listen({ options, onData, onEnd, onBroken }: Connection): void {
  const { stdin, stdout } = options;
  // The error listener stays for good: a reader that went away must not become an uncaught EPIPE.
  stdout.on("error", onBroken);
  stdin.on("data", onData).on("end", onEnd).on("close", onEnd).on("error", onBroken);
  if (stdin.readableEnded || stdin.destroyed) onEnd();
}

function receive(connection: Connection, line: string): void {
  const { options, pending } = connection;
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    refuse(connection, null, PARSE_ERROR, "Parse error: the line is not JSON.");
    return;
  }
  if (isRequest(message)) {
    pending.add(message.id);
    options.onRequest(message);
  } else if (isNotification(message)) {
    // A cancelled request is never answered, so nobody may wait for it.
    const cancelled = cancelledBy(message);
    if (cancelled !== undefined) pending.delete(cancelled);
    options.onNotification(message);
    closeWhenDone(connection);
  } else if (!isResponse(message)) {
    refuse(connection, idOf(message), INVALID_REQUEST, "Invalid request: the line is not a JSON-RPC 2.0 message.");
  }
}

function answer(connection: Connection, id: RequestId, response: string): void {
  if (connection.over || !connection.pending.has(id)) return;
  // A failed write also raises "error", which closes the connection.
  connection.options.stdout.write(`${response}\n`, () => {
    connection.pending.delete(id);
    closeWhenDone(connection);
  });
}

function write({ over, options }: Connection, message: string): void {
  if (!over) options.stdout.write(`${message}\n`);
}

function refuse(connection: Connection, id: RequestId | null, code: number, message: string): void {
  write(connection, JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
}

/** stdin has ended: closes when the requests under way are answered, or `drainMs` later. */
function drain(connection: Connection): void {
  if (connection.ending) return;
  connection.ending = true;
  endLines(connection.buffer);
  connection.drainTimer = setTimeout(() => close(connection), connection.options.drainMs ?? DRAIN_MS);
  closeWhenDone(connection);
}

function closeWhenDone(connection: Connection): void {
  if (connection.ending && connection.pending.size === 0) close(connection);
}

function close(connection: Connection): void {
  if (connection.over) return;
  connection.over = true;
  const { options, onData, onEnd, onBroken, drainTimer } = connection;
  clearTimeout(drainTimer);
  options.stdin.off("data", onData).off("end", onEnd).off("close", onEnd).off("error", onBroken);
  options.stdin.pause();
  connection.ended();
}

export const cancelledBy = ({ method, params }: Message): RequestId | undefined =>
  method === "notifications/cancelled" && isRequestId(params?.requestId) ? params.requestId : undefined;

const idOf = (message: unknown): RequestId | null =>
  isRecord(message) && (typeof message.id === "string" || typeof message.id === "number") ? message.id : null;
