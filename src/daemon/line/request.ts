/**
 * HTTP over the owner's socket, written by hand on `node:net`: loading `node:http` and sending its first request takes 14 ms, which an
 * agent would wait for at its prompt. It speaks HTTP/1.0, in which an answer is not cut into chunks and ends with its connection.
 */

import { connect, type Socket } from "node:net";
import { errorCode } from "../../engine/domain/errors.ts";
import { OwnerError } from "./owner-error.ts";
import type { OwnerReply, OwnerRequest } from "./question.ts";
import { refuseForeignSocket } from "./socket-folder.ts";

interface TimedRequest extends OwnerRequest {
  readonly timeoutMs: number;
}

/** EAGAIN is a full backlog: Linux refuses a connect to a busy unix socket that way. */
const UNREACHABLE: ReadonlySet<string | undefined> = new Set([
  "ENOENT",
  "ENOTDIR",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ECONNABORTED",
  "ENOTCONN",
  "EAGAIN",
]);

/** The connection on which the answer will come. */
export function sendToOwner({ socket, method, path, body, headers }: OwnerRequest): Socket {
  refuseForeignSocket(socket);
  const payload = Buffer.from(body === undefined ? "" : JSON.stringify(body));
  const json = body === undefined ? {} : { "content-type": "application/json", "content-length": payload.length };
  const head = Object.entries({ host: "localhost", ...headers, ...json }).map(([name, value]) =>
    headerLine(name, value),
  );
  const text = [`${method} ${path} HTTP/1.0`, ...head, "\r\n"].join("\r\n");
  const connection = connect(socket);
  // In one piece: an owner that answers without reading a body which comes later resets the connection, and its answer is lost.
  connection.write(Buffer.concat([Buffer.from(text, "latin1"), payload]));
  return connection.setEncoding("utf8");
}

/** A line break in a value would begin another header, and a character above 255 would arrive as two. */
function headerLine(name: string, value: string | number): string {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(String(value)))
    throw new TypeError(`Invalid character in header content ["${name}"]`);
  return `${name}: ${value}`;
}

/** One question and its whole answer. Fails with an `OwnerError`, or with what else is wrong with the socket. */
export async function requestOwner({ timeoutMs, ...request }: TimedRequest): Promise<OwnerReply> {
  const connection = sendToOwner(request);
  // Rounded: what is left of a deadline has a dozen decimals, and people read this message.
  const late = () => new OwnerError("timeout", `no answer within ${Math.round(timeoutMs)} ms`);
  const timer = setTimeout(() => connection.destroy(late()), timeoutMs);
  try {
    const { status, length, first, rest } = await readHead(connection);
    let text = first;
    let bytes = Buffer.byteLength(first);
    // The end of the connection is not waited for: it comes a turn of the owner's event loop later.
    while (length === undefined || bytes < length) {
      const { done, value } = await rest.next();
      if (done) break;
      text += value;
      bytes += Buffer.byteLength(value);
    }
    // Before the body: an owner that stops need not say why.
    if (status === 503) throw new OwnerError("stopping", "the owner is stopping");
    if (length !== undefined && bytes !== length) throw new OwnerError("unreachable", "aborted");
    return { status, json: status === 204 ? undefined : parsed(text) };
  } catch (error) {
    throw ownerErrorOf(error);
  } finally {
    clearTimeout(timer);
    connection.destroy();
  }
}

/** The lines of an answer as they come; its status when that is not 200. `signal` closes the connection. */
export async function linesFromOwner(
  request: OwnerRequest,
  signal?: AbortSignal,
): Promise<AsyncGenerator<string> | number> {
  signal?.throwIfAborted();
  const connection = sendToOwner(request);
  signal?.addEventListener("abort", () => connection.destroy(), { once: true });
  try {
    const head = await readHead(connection);
    if (head.status === 200) return linesOf(connection, head);
    connection.destroy();
    return head.status;
  } catch (error) {
    connection.destroy();
    throw ownerErrorOf(error);
  }
}

async function* linesOf(connection: Socket, { first, rest }: Head): AsyncGenerator<string> {
  let unread = "";
  try {
    for (let part = first; ; ) {
      unread += part;
      // A long line comes in many parts, and looking through all of it each time would take long.
      if (part.includes("\n")) {
        const lines = unread.split("\n");
        unread = lines.pop() ?? "";
        yield* lines;
      }
      const { done, value } = await rest.next();
      if (done) return;
      part = value;
    }
  } catch (error) {
    throw ownerErrorOf(error);
  } finally {
    connection.destroy();
  }
}

interface Head {
  readonly status: number;
  readonly length: number | undefined;
  /** What came of the body together with the head. */
  readonly first: string;
  readonly rest: AsyncIterableIterator<string>;
}

async function readHead(connection: Socket): Promise<Head> {
  const rest = connection[Symbol.asyncIterator]() as AsyncIterableIterator<string>;
  for (let text = ""; ; ) {
    const { done, value } = await rest.next();
    if (done) throw new OwnerError("unreachable", text === "" ? "socket hang up" : CUT_OFF);
    text += value;
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) continue;
    const head = text.slice(0, end);
    const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1];
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (status === undefined) throw new OwnerError("unreachable", CUT_OFF);
    return {
      status: Number(status),
      length: length === undefined ? undefined : Number(length),
      first: text.slice(end + 4),
      rest,
    };
  }
}

const CUT_OFF = "the owner's answer was cut off";

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The owner died while it answered.
    throw new OwnerError("unreachable", CUT_OFF, error);
  }
}

function ownerErrorOf(error: unknown): unknown {
  if (!(error instanceof Error) || !UNREACHABLE.has(errorCode(error))) return error;
  return new OwnerError("unreachable", error.message, error);
}
