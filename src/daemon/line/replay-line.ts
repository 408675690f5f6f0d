/** A replay over the owner's socket: lines of progress, then the outcome. Both ends of the line stand here. */
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { z } from "zod";
import { unavailable } from "../../engine/domain/errors.ts";
import type { ReplayProgress } from "../../engine/memory/past/replay.ts";
import type { Outcome } from "../../engine/tools/outcome.ts";
import { refuseForeignSocket } from "./socket-place.ts";

export const REPLAY_PATH = "/owner/replay";

const Body = z.strictObject({ butler: z.string() });

type Line = { readonly progress: Parameters<ReplayProgress>[0] } | { readonly outcome: Outcome };

/** Progress no faster than a person reads it. */
const EVERY_MS = 100;

/** The owner's end. Whoever goes away takes the work along: nobody would hear its answer. */
export async function answerReplay(
  body: unknown,
  outgoing: ServerResponse,
  verify: (butler: string, tell: ReplayProgress) => Promise<Outcome>,
): Promise<void> {
  const { butler } = Body.parse(body);
  const write = (line: Line) => outgoing.write(`${JSON.stringify(line)}\n`);
  outgoing.writeHead(200, { "content-type": "application/x-ndjson" });
  let told = 0;
  const outcome = await verify(butler, (step) => {
    if (outgoing.destroyed) throw unavailable("Whoever asked for the replay has gone.");
    if (performance.now() - told < EVERY_MS) return;
    told = performance.now();
    write({ progress: step });
  });
  write({ outcome });
  outgoing.end();
}

/** The caller's end. */
export async function askReplay(socket: string, butler: string, tell: ReplayProgress): Promise<Outcome> {
  const incoming = await new Promise<IncomingMessage>((done, failed) => {
    refuseForeignSocket(socket);
    const headers = { "content-type": "application/json" };
    const outgoing = request({ socketPath: socket, method: "POST", path: REPLAY_PATH, headers, agent: false }, done);
    outgoing.on("error", failed);
    outgoing.end(JSON.stringify({ butler }));
  });
  if (incoming.statusCode !== 200) {
    incoming.resume();
    throw unavailable('The running owner cannot do this now, or is of another build: "butler stop" ends it.');
  }
  try {
    for await (const line of linesOf(incoming)) {
      if ("outcome" in line) return line.outcome;
      tell(line.progress);
    }
  } catch (error) {
    if (!isCutOff(error)) throw error;
  }
  throw unavailable("The owner of the memory went away during the replay; run it again.");
}

async function* linesOf(incoming: IncomingMessage): AsyncGenerator<Line> {
  let rest = "";
  incoming.setEncoding("utf8");
  for await (const chunk of incoming) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as Line;
  }
}

const isCutOff = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  /^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/.test(String(error.code));
