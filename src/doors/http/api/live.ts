/**
 * Activity as it happens, as server-sent events. The stream is asked again after each change that the owner reports, so following costs
 * nothing while nothing happens. An event's id is its cursor: a page that was cut off goes on where it was.
 */
import type { Context } from "hono";
import { z } from "zod";
import type { Failure, Outcome } from "../../../engine/tools/outcome.ts";
import type { Event } from "../../../engine/views/history/activity.ts";
import type { Backend } from "../../backend.ts";
import { type DoorEnv, refuse, refusedButler, refusedTenant, turnAway } from "../guards.ts";
import { MEMORY } from "./define.ts";

export const LIVE_PATH = `${MEMORY}/activity/live`;
export const LiveQuery = z.strictObject({
  cursor: z.string().max(64).optional().describe("Where to go on; Last-Event-ID wins. From now on if left out."),
});

interface LiveParts {
  readonly backend: Backend;
  readonly signal?: AbortSignal;
  readonly beatMs?: number;
}

/** Proxies and browsers give up a connection on which nothing comes. */
const BEAT_MS = 15_000;
/** Then the page connects again, and it is checked again who it is: a session may have ended meanwhile. */
const LONGEST_MS = 15 * 60_000;
const PAGE = 100;
/** Pages that follow at the same time: of one tenant, so that none takes the places of the others, and of all. */
const MOST_OF_TENANT = 50;
const MOST = 1_000;
const following = new Map<string, number>();

const TOO_MANY: Failure = {
  code: "unavailable",
  message: "Too many pages follow already; close some, or try again in 30 seconds.",
  field: "busy",
  retry_after: 30,
};

/** Counts one page more; undefined when there are too many, else what counts it off again. */
function takePlace(tenant: string): (() => void) | undefined {
  const own = following.get(tenant) ?? 0;
  const all = [...following.values()].reduce((sum, n) => sum + n, 0);
  if (own >= MOST_OF_TENANT || all >= MOST) return undefined;
  following.set(tenant, own + 1);
  return () => {
    const left = (following.get(tenant) ?? 1) - 1;
    if (left > 0) following.set(tenant, left);
    else following.delete(tenant);
  };
}

const ENDED: Outcome = {
  ok: false,
  error: { code: "unauthorized", message: "This token or session has ended; sign in again." },
};

type Ask = (input: object) => Promise<Outcome>;

export async function serveLive(parts: LiveParts, c: Context<DoorEnv>): Promise<Response> {
  const { backend } = parts;
  const principal = c.get("principal");
  const name = c.req.param("name") ?? "";
  const refused = refusedButler(principal, name, await backend.butlers()) ?? refusedTenant(c);
  if (refused !== undefined) return turnAway(c, refused, { butler: name });
  const scope = principal.admin ? { scope: "*" } : {};
  const stillValid = c.get("stillValid");
  const ask: Ask = async (input) =>
    // A token may have been revoked since the stream began.
    stillValid === undefined || (await stillValid())
      ? backend.invoke(principal, name, {
          tool: "memory_activity_stream",
          input: { ...scope, changes: true, limit: PAGE, ...input },
        })
      : ENDED;
  const asked = c.req.header("last-event-id") || c.req.query("cursor");
  // Also without a cursor: what cannot be followed is refused before the stream begins.
  const first = await ask(asked === undefined ? { newest: true, limit: 1 } : { cursor: asked });
  if (!first.ok) return refuse(c, first.error);
  const leave = takePlace(principal.tenant);
  if (leave === undefined) return turnAway(c, TOO_MANY, { butler: name });
  const from = asked ?? String(first.answer.next_cursor);
  const body = streamOf(parts, { butler: name, ask, from, leave }, c.req.raw.signal);
  return c.body(body, 200, { "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no" });
}

interface Followed {
  readonly butler: string;
  readonly ask: Ask;
  readonly from: string;
  /** Called once, when it ends. */
  leave(): void;
}

function streamOf(
  { backend, signal, beatMs = BEAT_MS }: LiveParts,
  { butler, ask, from, leave }: Followed,
  gone: AbortSignal,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const ends: (() => void)[] = [];
  let ended = false;
  const end = () => {
    if (ended) return;
    ended = true;
    leave();
    for (const one of ends) one();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const close = () => {
        if (!ended) controller.close();
        end();
      };
      const send = (text: string) => {
        if (!ended) controller.enqueue(encoder.encode(text));
      };
      const look = reader(ask, from, send, close, () => ended);
      const beat = setInterval(() => {
        send(": still here\n\n");
        if (backend.home === undefined) look();
      }, beatMs);
      const limit = setTimeout(close, LONGEST_MS);
      ends.push(
        () => clearInterval(beat),
        () => clearTimeout(limit),
        backend.home?.follow(butler, look) ?? (() => undefined),
      );
      for (const over of [gone, signal]) over?.addEventListener("abort", close, { once: true });
      if (gone.aborted || signal?.aborted) return close();
      send("retry: 2000\n\n");
      look();
    },
    cancel: end,
  });
}

/** Reads what is new, page by page; asked again meanwhile, it looks once more afterwards. */
function reader(
  ask: Ask,
  from: string,
  send: (text: string) => void,
  close: () => void,
  isOver: () => boolean,
): () => void {
  let cursor = from;
  let reading = false;
  let again = false;
  const read = async (): Promise<void> => {
    do {
      again = false;
      let more = true;
      while (more && !isOver()) {
        const page = await ask({ cursor });
        // The page connects again and is told why it cannot follow.
        if (!page.ok) return close();
        for (const event of page.answer.events as z.infer<typeof Event>[])
          send(`id: e${event.id}\nevent: change\ndata: ${JSON.stringify(event)}\n\n`);
        cursor = String(page.answer.next_cursor);
        more = page.answer.more === true;
      }
    } while (again && !isOver());
  };
  return () => {
    again = true;
    if (reading) return;
    reading = true;
    void read()
      .catch(close)
      .finally(() => {
        reading = false;
      });
  };
}
