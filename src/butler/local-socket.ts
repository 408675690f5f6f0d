/** One request over the owner's socket. Shared by the proxies, the command line and `butler up`. */
import { type Agent, request } from "node:http";
import { errorCode } from "./home.ts";

export interface Ask {
  readonly socket: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: unknown;
  readonly timeoutMs: number;
  readonly agent?: Agent | false;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly status: number;
  readonly json: unknown;
}

/** The owner is alive but did not answer in time: repeating would only pile up work. */
export class OwnerTimeout extends Error {}

export function ask(options: Ask): Promise<Reply> {
  const { socket, method, path, body, timeoutMs, agent = false } = options;
  return new Promise((done, failed) => {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const json = { "content-type": "application/json", "content-length": Buffer.byteLength(payload ?? "") };
    const headers = { ...options.headers, ...(payload === undefined ? {} : json) };
    const outgoing = request({ socketPath: socket, method, path, headers, agent }, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8");
      incoming.on("data", (chunk: string) => {
        text += chunk;
      });
      incoming.on("error", fail);
      incoming.on("end", () => {
        clearTimeout(timer);
        try {
          const status = incoming.statusCode ?? 0;
          done({ status, json: status === 204 ? undefined : JSON.parse(text) });
        } catch (error) {
          // Cut off in the middle: the owner died while it answered.
          failed(new Error("the owner's answer was cut off", { cause: error }));
        }
      });
    });
    const timer = setTimeout(() => outgoing.destroy(new OwnerTimeout(`no answer within ${timeoutMs} ms`)), timeoutMs);
    function fail(error: Error) {
      clearTimeout(timer);
      failed(error);
    }
    outgoing.on("error", fail);
    outgoing.end(payload);
  });
}

/** EAGAIN is a full backlog: Linux refuses a connect to a busy unix socket that way. */
const NOBODY_THERE = new Set([
  "ENOENT",
  "ENOTDIR",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ECONNABORTED",
  "ENOTCONN",
  "EAGAIN",
]);

/** The owner is not there, or went away while we spoke: the call may be repeated under the same key. */
export function isGone(error: unknown): boolean {
  if (error instanceof OwnerTimeout) return false;
  const code = errorCode(error);
  return code === undefined ? error instanceof Error && error.message.includes("cut off") : NOBODY_THERE.has(code);
}
