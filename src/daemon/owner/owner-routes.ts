/** The routes of an owner that only local processes may call. Served on the socket in a 0700 folder, never on the port. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import type { Backend, Principal } from "../../doors/backend.ts";
import { ERAS } from "../../doors/mcp/stdio/era.ts";
import { isRequest } from "../../doors/mcp/stdio/json-rpc.ts";
import { messageOf } from "../../engine/domain/errors.ts";
import { TRUST, type Trust } from "../../engine/domain/learning/trust.ts";
import type { ReplayProgress } from "../../engine/memory/past/replay.ts";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import { answerMcp, MCP_PATH, type McpQuestion, OTHER_BUILD } from "../line/mcp-request.ts";
import { answerReplay, REPLAY_PATH } from "../line/replay.ts";
import type { OwnerNote } from "./owner-file.ts";

export interface McpLines {
  /** An agent's connection has begun: requests will follow. */
  expect(): void;
  /** Answers a request of an agent's connection; undefined when it was cancelled. */
  answer(question: McpQuestion, tell: (notification: string) => void, signal: AbortSignal): Promise<string | undefined>;
}

export interface OwnerRouteParts {
  readonly backend: Backend;
  /** Whoever can reach the socket owns the data; an agent that a person started is kept to its own butler all the same. */
  local(butler: string, agent: boolean, voice?: Trust): Principal;
  jobs(request: unknown): Promise<Outcome>;
  /** Absent: this owner serves no connections of agents. */
  readonly mcp?: McpLines | undefined;
  /** What a session of an agent starts with; absent: this owner prepares none. */
  session?: ((question: unknown) => Promise<object>) | undefined;
  verifyReplay(butler: string, tell: ReplayProgress): Promise<Outcome>;
  /** Lets go of stores and models, as after a while without calls. */
  rest(): Promise<void>;
  note(): OwnerNote;
  /** True once a stop was asked for: callers are sent to the next owner. */
  stopping(): boolean;
  stop(why: string): void;
  /** One open response for each attached client. */
  readonly attached: Set<ServerResponse>;
}

const CallBody = z.strictObject({
  butler: z.string(),
  agent: z.boolean().optional(),
  /** `user` when an agent's program sends its own transcript: the person speaks in it. */
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

const McpBody = z.strictObject({
  butler: z.string(),
  toolset: z.enum(["core", "full"]),
  hooks: z.boolean(),
  session: z.string(),
  project: z.string().optional(),
  now: z.string().optional(),
  key: z.string(),
  era: z.enum(ERAS),
  message: z.custom<McpQuestion["message"]>(isRequest),
});

/** A batch of 1,000 episodes of 32 KB. */
const BODY_LIMIT = 32 * 1024 * 1024;

interface Route {
  /** Answered also after a stop was asked for; the others then answer 503 with the owner's note. */
  readonly whileStopping?: true;
  /** `text` is the body of the request, undefined when it is larger than the limit. */
  answer(parts: OwnerRouteParts, outgoing: ServerResponse, text: string | undefined): Promise<void> | void;
}

const ROUTES: Readonly<Record<string, Route>> = {
  "GET /owner/status": { answer: (parts, outgoing) => send(outgoing, 200, parts.note()) },
  "GET /owner/butlers": {
    whileStopping: true,
    answer: async ({ backend }, outgoing) => send(outgoing, 200, { butlers: await backend.butlers() }),
  },
  "GET /owner/health": {
    whileStopping: true,
    answer: async ({ backend }, outgoing) => send(outgoing, 200, await backend.health()),
  },
  "GET /owner/attach": { answer: attach },
  "POST /owner/stop": {
    whileStopping: true,
    answer(parts, outgoing) {
      send(outgoing, 202, parts.note());
      parts.stop("asked over the socket");
    },
  },
  "POST /owner/rest": {
    async answer(parts, outgoing) {
      await parts.rest();
      send(outgoing, 200, await parts.backend.health());
    },
  },
  "POST /owner/call": { answer: call },
  "POST /owner/jobs": {
    answer: async (parts, outgoing, text) =>
      send(outgoing, 200, await parts.jobs(text === undefined ? undefined : JSON.parse(text))),
  },
  [`POST ${MCP_PATH}`]: { answer: mcp },
  [`POST ${REPLAY_PATH}`]: {
    answer: (parts, outgoing, text) => answerReplay(JSON.parse(text ?? "{}"), outgoing, parts.verifyReplay),
  },
  // The path has the name it had in earlier builds: an owner or a client of such a build may still run.
  "POST /owner/desk/session": {
    async answer(parts, outgoing, text) {
      if (parts.session) send(outgoing, 200, await parts.session(JSON.parse(text ?? "null")));
      else send(outgoing, 404, failure("not_found", "The owner prepares no sessions."));
    },
  },
};

/** Answers `/owner/…`; false leaves the request to the next listener. */
export function ownerRoutes(parts: OwnerRouteParts): (incoming: IncomingMessage, outgoing: ServerResponse) => boolean {
  return (incoming, outgoing) => {
    if (!incoming.url?.startsWith("/owner/")) return false;
    void answer(parts, incoming, outgoing).catch((error: unknown) => {
      if (!outgoing.headersSent) send(outgoing, 500, failure("internal", messageOf(error)));
      else outgoing.destroy();
    });
    return true;
  };
}

async function answer(parts: OwnerRouteParts, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const name = `${incoming.method} ${incoming.url}`;
  const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined;
  if (!route) return send(outgoing, 404, failure("not_found", `The owner has no ${name}.`));
  const text = await bodyOf(incoming);
  if (parts.stopping() && !route.whileStopping) return send(outgoing, 503, parts.note());
  await route.answer(parts, outgoing, text);
}

/** The response stays open for as long as the client lives; the kernel closes it when the client dies. */
function attach(parts: OwnerRouteParts, outgoing: ServerResponse): void {
  parts.attached.add(outgoing);
  parts.mcp?.expect();
  outgoing.on("close", () => parts.attached.delete(outgoing));
  outgoing.writeHead(200, { "content-type": "application/x-ndjson" });
  outgoing.write(`${JSON.stringify(parts.note())}\n`);
}

async function call(parts: OwnerRouteParts, outgoing: ServerResponse, text: string | undefined): Promise<void> {
  if (text === undefined)
    return send(outgoing, 413, failure("invalid_input", "The call is larger than 32 MB; send it in parts."));
  const asked = CallBody.safeParse(JSON.parse(text));
  if (!asked.success) return send(outgoing, 200, failure("unavailable", OTHER_BUILD));
  const { butler, agent = false, voice, request } = asked.data;
  const outcome = await parts.backend.invoke(parts.local(butler, agent, voice), butler, {
    ...definedOnly(request),
    door: agent ? "mcp" : "cli",
  });
  send(outgoing, 200, outcome);
}

async function mcp(parts: OwnerRouteParts, outgoing: ServerResponse, text: string | undefined): Promise<void> {
  const asked = McpBody.safeParse(JSON.parse(text ?? "null"));
  const { mcp: lines } = parts;
  if (!asked.success || !lines) return send(outgoing, 404, failure("unavailable", OTHER_BUILD));
  await answerMcp(outgoing, (tell, signal) => lines.answer(asked.data, tell, signal));
}

/** zod sets a key that was left out to undefined; the request type has the key or not. */
function definedOnly(request: z.infer<typeof CallBody>["request"]): ToolRequest {
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

/** A body that is too large is read to its end all the same: an answer to a caller that still writes is lost with the connection. */
function bodyOf(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_LIMIT) chunks.push(chunk);
      else chunks.length = 0;
    });
    incoming.on("end", () => resolve(size <= BODY_LIMIT ? Buffer.concat(chunks).toString("utf8") : undefined));
    incoming.on("error", reject);
    // A caller who has gone in the middle of it.
    incoming.on("close", () => reject(new Error("the request was not sent to its end")));
  });
}

function send(outgoing: ServerResponse, status: number, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body));
  outgoing.writeHead(status, { "content-type": "application/json", "content-length": bytes.length });
  outgoing.end(bytes);
}

function failure(code: "internal" | "not_found" | "invalid_input" | "unavailable", message: string): Outcome {
  return { ok: false, error: { code, message } };
}
