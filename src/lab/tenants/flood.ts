/** Calls over HTTP with a token: one at a time, or as many a second as asked, whether the answers come or not. */
import { setMaxListeners } from "node:events";
import { Agent, request } from "node:http";

export interface Caller {
  readonly port: number;
  readonly butler: string;
  readonly token: string;
  /** Connections of its own: calls of one tenant must not wait here for those of another. */
  readonly agent: Agent;
}

export const ownConnections = (): Agent => new Agent({ keepAlive: true, maxSockets: 512 });

/** The status of the answer, once all of it has come. */
export function callTool(
  { port, butler, token, agent }: Caller,
  tool: string,
  input: object,
  signal?: AbortSignal,
): Promise<number> {
  const body = JSON.stringify(input);
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  return new Promise((done, failed) => {
    const path = `/api/butlers/${butler}/tools/${tool}`;
    const asked = { host: "127.0.0.1", port, path, method: "POST", headers, agent };
    request(signal === undefined ? asked : { ...asked, signal }, (answer) => {
      answer.resume();
      answer.once("end", () => done(answer.statusCode ?? 0));
    })
      .once("error", failed)
      .end(body);
  });
}

export interface Flooded {
  sent: number;
  /** By the status of the answer; 0: there was none when the flood ended. */
  readonly answers: Record<number, number>;
}

const STEP_MS = 20;

/** Begins to call; the returned function ends it, and does not wait for answers that have not come. */
export function flood(caller: Caller, perSecond: number, question: () => object): () => Promise<Flooded> {
  const counted: Flooded = { sent: 0, answers: {} };
  const open = new Set<Promise<void>>();
  const over = new AbortController();
  // Each call under way listens to it.
  setMaxListeners(0, over.signal);
  const started = performance.now();
  const timer = setInterval(() => {
    const due = ((performance.now() - started) / 1_000) * perSecond;
    while (counted.sent < due) {
      counted.sent += 1;
      const one = callTool(caller, "memory_search", question(), over.signal)
        .catch(() => 0)
        .then((status) => {
          counted.answers[status] = (counted.answers[status] ?? 0) + 1;
          open.delete(one);
        });
      open.add(one);
    }
  }, STEP_MS);
  return async () => {
    clearInterval(timer);
    over.abort();
    await Promise.all(open);
    return counted;
  };
}
