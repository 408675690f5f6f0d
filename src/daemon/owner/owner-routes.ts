/** What only local processes may ask of an owner. Served on the socket in a 0700 folder, never on the port. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import type { Host, Principal } from "../../doors/host.ts";
import { TRUST, type Trust } from "../../engine/domain/learning/trust.ts";
import type { ReplayProgress } from "../../engine/memory/past/replay.ts";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import { answerReplay, REPLAY_PATH } from "../line/replay-line.ts";
import type { OwnerNote } from "./owner-file.ts";

export interface OwnerRouteParts {
  readonly host: Host;
  /** Whoever can reach the socket owns the data; an agent that a person started is kept to its own butler all the same. */
  local(butler: string, agent: boolean, voice?: Trust): Principal;
  jobs(request: unknown): Promise<Outcome>;
  /** Further questions that local processes ask, by name. */
  readonly desks: Desks;
  verifyReplay(butler: string, tell: ReplayProgress): Promise<Outcome>;
  note(): OwnerNote;
  /** True once a stop was asked for: callers are sent to the next owner. */
  draining(): boolean;
  stop(why: string): void;
  /** Where proxies that live are counted. */
  readonly attached: Set<ServerResponse>;
}

/** Each takes a question as it came and answers with an object; what it throws is told to the caller as a failure. */
export type Desks = Readonly<Record<string, (question: unknown) => Promise<object>>>;

const CallBody = z.strictObject({
  butler: z.string(),
  agent: z.boolean().optional(),
  /** An agent's host that tells its own transcript says `user`: the person speaks in it. */
  voice: z.enum(TRUST).optional(),
  request: z.strictObject({
    tool: z.string(),
    input: z.unknown(),
    idempotencyKey: z.string().optional(),
    session: z.string().optional(),
    project: z.string().optional(),
    now: z.string().optional(),
  }),
});

/** A batch of 1,000 episodes of 32 KB; more is a mistake. */
const BODY_LIMIT = 32 * 1024 * 1024;

/** Answers `/owner/…`; false leaves the request to the next listener. */
export function ownerRoutes(parts: OwnerRouteParts): (incoming: IncomingMessage, outgoing: ServerResponse) => boolean {
  return (incoming, outgoing) => {
    const path = incoming.url ?? "";
    if (!path.startsWith("/owner/")) return false;
    void route(parts, `${incoming.method} ${path}`, incoming, outgoing).catch((error: unknown) => {
      if (!outgoing.headersSent)
        send(outgoing, 500, failure("internal", error instanceof Error ? error.message : String(error)));
      else outgoing.destroy();
    });
    return true;
  };
}

async function route(
  parts: OwnerRouteParts,
  name: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  switch (name) {
    case "GET /owner/status":
      return send(outgoing, parts.draining() ? 503 : 200, parts.note());
    case "GET /owner/butlers":
      return send(outgoing, 200, { butlers: await parts.host.butlers() });
    case "GET /owner/health":
      return send(outgoing, 200, await parts.host.health());
    case "POST /owner/stop":
      send(outgoing, 202, parts.note());
      return parts.stop("asked over the socket");
    case "GET /owner/attach":
      return attach(parts, outgoing);
    case "POST /owner/call":
      return call(parts, incoming, outgoing);
    case "POST /owner/jobs":
      return jobs(parts, incoming, outgoing);
    case `POST ${REPLAY_PATH}`:
      return replay(parts, incoming, outgoing);
    default:
      if (name.startsWith(DESK)) return desk(parts, name.slice(DESK.length), incoming, outgoing);
      return send(outgoing, 404, failure("not_found", `The owner has no ${name}.`));
  }
}

/** The response stays open for as long as the proxy lives; the kernel closes it when the proxy dies. */
function attach(parts: OwnerRouteParts, outgoing: ServerResponse): void {
  if (parts.draining()) {
    send(outgoing, 503, parts.note());
    return;
  }
  parts.attached.add(outgoing);
  outgoing.on("close", () => parts.attached.delete(outgoing));
  outgoing.writeHead(200, { "content-type": "application/x-ndjson" });
  outgoing.write(`${JSON.stringify(parts.note())}\n`);
}

async function call(parts: OwnerRouteParts, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const text = await bodyOf(incoming);
  if (text === undefined)
    return send(outgoing, 413, failure("invalid_input", "The call is larger than 32 MB; send it in parts."));
  if (parts.draining()) return send(outgoing, 503, parts.note());
  const body = CallBody.safeParse(JSON.parse(text));
  if (!body.success)
    return send(
      outgoing,
      200,
      failure(
        "unavailable",
        'The running owner is of another build and does not understand this call: "butler stop" ends it.',
      ),
    );
  const { butler, agent = false, voice, request } = body.data;
  const outcome = await parts.host.invoke(parts.local(butler, agent, voice), butler, withoutGaps(request));
  send(outgoing, 200, outcome);
}

const DESK = "POST /owner/desk/";

async function desk(
  parts: OwnerRouteParts,
  name: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const text = await bodyOf(incoming);
  if (parts.draining()) return send(outgoing, 503, parts.note());
  const ask = Object.hasOwn(parts.desks, name) ? parts.desks[name] : undefined;
  if (!ask) return send(outgoing, 404, failure("not_found", `The owner has no desk "${name}".`));
  send(outgoing, 200, await ask(JSON.parse(text ?? "null")));
}

async function jobs(parts: OwnerRouteParts, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const text = await bodyOf(incoming);
  if (parts.draining()) return send(outgoing, 503, parts.note());
  send(outgoing, 200, await parts.jobs(text === undefined ? undefined : JSON.parse(text)));
}

async function replay(parts: OwnerRouteParts, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const text = await bodyOf(incoming);
  if (parts.draining()) return send(outgoing, 503, parts.note());
  await answerReplay(JSON.parse(text ?? "{}"), outgoing, parts.verifyReplay);
}

/** zod writes `key: undefined` for what was left out; the request type has the key or not. */
function withoutGaps(request: z.infer<typeof CallBody>["request"]): ToolRequest {
  const { tool, input, idempotencyKey, session, project, now } = request;
  return {
    tool,
    input,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(session === undefined ? {} : { session }),
    ...(project === undefined ? {} : { project }),
    ...(now === undefined ? {} : { now }),
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length;
    if (size > BODY_LIMIT) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function send(outgoing: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  outgoing.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  outgoing.end(text);
}

function failure(code: "internal" | "not_found" | "invalid_input" | "unavailable", message: string): Outcome {
  return { ok: false, error: { code, message } };
}
