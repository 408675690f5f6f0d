/**
 * One question to the owner without `node:http`: loading that and sending its first request takes 14 ms, which an agent that is
 * about to start would wait for.
 */
import { connect } from "node:net";
import { refuseForeignSocket } from "./socket-place.ts";

export interface LineReply {
  readonly status: number;
  readonly json: unknown;
}

/** Fails as `node:http` would: with the code of the socket, or with `late()` when its time is over. */
export function askLine(
  socket: string,
  path: string,
  body: unknown,
  timeoutMs: number,
  late: () => Error,
): Promise<LineReply> {
  return new Promise((done, failed) => {
    refuseForeignSocket(socket);
    const payload = Buffer.from(JSON.stringify(body ?? null));
    const chunks: Buffer[] = [];
    const line = connect(socket);
    const timer = setTimeout(() => line.destroy(late()), timeoutMs);
    line.on("error", (error) => {
      clearTimeout(timer);
      failed(error);
    });
    line.on("data", (chunk) => chunks.push(chunk));
    line.on("end", () => {
      clearTimeout(timer);
      const reply = understood(Buffer.concat(chunks));
      if (reply) done(reply);
      else failed(Object.assign(new Error("the owner's answer was cut off"), { code: "ECONNRESET" }));
    });
    const head = [
      // In 1.0 an answer is not cut into chunks, and ends with the connection.
      `POST ${path} HTTP/1.0`,
      "host: localhost",
      "content-type: application/json",
      `content-length: ${payload.length}`,
    ];
    line.write(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), payload]));
  });
}

/** Undefined when it is not whole, or no answer of an owner at all. */
function understood(bytes: Buffer): LineReply | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  const head = end < 0 ? "" : bytes.toString("latin1", 0, end);
  const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1];
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const body = bytes.subarray(end + 4);
  if (status === undefined || (length !== undefined && body.length !== Number(length))) return undefined;
  try {
    return { status: Number(status), json: JSON.parse(body.toString("utf8")) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
