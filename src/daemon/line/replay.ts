/** A replay over the owner's socket: lines of progress, then the outcome. Both ends of the connection stand here. */
import type { ServerResponse } from "node:http";
import { z } from "zod";
import { unavailable } from "../../engine/domain/errors.ts";
import type { ReplayProgress } from "../../engine/memory/past/replay.ts";
import type { Outcome } from "../../engine/tools/outcome.ts";
import { OwnerError } from "./owner-error.ts";
import { linesFromOwner } from "./request.ts";

export const REPLAY_PATH = "/owner/replay";

const Body = z.strictObject({ butler: z.string() });

type Line = { readonly progress: Parameters<ReplayProgress>[0] } | { readonly outcome: Outcome };

/** The pause between two lines of progress. */
const EVERY_MS = 100;

/** The owner's end. The work ends when its caller closes the connection: nobody would read the answer. */
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
  const lines = await linesFromOwner({ socket, method: "POST", path: REPLAY_PATH, body: { butler } });
  if (typeof lines === "number")
    throw unavailable('The running owner cannot do this now, or is of another build: "butler stop" ends it.');
  try {
    for await (const text of lines) {
      const line = JSON.parse(text) as Line;
      if ("outcome" in line) return line.outcome;
      tell(line.progress);
    }
  } catch (error) {
    if (!(error instanceof OwnerError)) throw error;
  }
  throw unavailable("The owner of the memory went away during the replay; run it again.");
}
