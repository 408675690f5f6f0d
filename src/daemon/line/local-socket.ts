/** One request over the owner's socket. Shared by the proxies, the command line and `butler up`. */
import { type Agent, request } from "node:http";
import { noAnswerWithin } from "./local-gone.ts";
import { refuseForeignSocket } from "./socket-place.ts";

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

export function ask(options: Ask): Promise<Reply> {
  const { socket, method, path, body, timeoutMs, agent = false } = options;
  return new Promise((done, failed) => {
    refuseForeignSocket(socket);
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
    const timer = setTimeout(() => outgoing.destroy(noAnswerWithin(timeoutMs)), timeoutMs);
    function fail(error: Error) {
      clearTimeout(timer);
      failed(error);
    }
    outgoing.on("error", fail);
    outgoing.end(payload);
  });
}
