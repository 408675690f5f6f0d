/**
 * A request of an agent's connection over the owner's socket: notifications that belong to it, then its response, each on a line. Both ends of
 * the connection stand here.
 */
import type { ServerResponse } from "node:http";
import type { Era } from "../../doors/mcp/stdio/era.ts";
import type { Request } from "../../doors/mcp/stdio/json-rpc.ts";
import { unavailable } from "../../engine/domain/errors.ts";
import { OwnerError } from "./owner-error.ts";
import type { OwnerRequest } from "./question.ts";
import { linesFromOwner } from "./request.ts";

export const MCP_PATH = "/owner/mcp";

export interface McpQuestion {
  readonly butler: string;
  readonly toolset: "core" | "full";
  readonly hooks: boolean;
  readonly session: string;
  readonly project?: string | undefined;
  readonly now?: string | undefined;
  /** Under which the request may be repeated: a write is done once. */
  readonly key: string;
  /** What the connection has decided before: doors/mcp/stdio/era.ts. */
  readonly era: Era;
  readonly message: Request;
}

/** The first character of a line: what follows is a notification, or the response. */
const NOTIFICATION = "n";
const RESPONSE = "r";

/** The owner's end. A caller that closes the connection has cancelled: `signal` is aborted. */
export async function answerMcp(
  outgoing: ServerResponse,
  answer: (tell: (notification: string) => void, signal: AbortSignal) => Promise<string | undefined>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const write = (line: string) => {
    if (!outgoing.headersSent) outgoing.writeHead(200, { "content-type": "application/x-ndjson" });
    outgoing.write(`${line}\n`);
  };
  const response = await answer((notification) => write(`${NOTIFICATION}${notification}`), gone.signal);
  if (response === undefined) return void outgoing.destroy();
  write(`${RESPONSE}${response}`);
  outgoing.end();
}

export interface McpAsk extends OwnerRequest {
  /** How long the owner may be silent. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  tell(notification: string): void;
}

/** The caller's end. Fails with an `OwnerError` when the owner ended before its response was whole. */
export async function askMcp({ timeoutMs, signal, tell, ...request }: McpAsk): Promise<string> {
  let late: NodeJS.Timeout | undefined;
  const patience = new Promise<never>((_, failed) => {
    const giveUp = () => failed(new OwnerError("timeout", `no answer within ${Math.round(timeoutMs)} ms`));
    late = setTimeout(giveUp, timeoutMs);
    signal.addEventListener("abort", () => failed(unavailable("The call was cancelled.")), { once: true });
  });
  // A call that takes too long is not cancelled: it may still be carried out, and its answer is read and thrown away.
  return Promise.race([readResponse(request, signal, tell, () => late?.refresh()), patience]).finally(() =>
    clearTimeout(late),
  );
}

async function readResponse(
  request: OwnerRequest,
  signal: AbortSignal,
  tell: (notification: string) => void,
  heard: () => void,
): Promise<string> {
  const lines = await linesFromOwner(request, signal);
  if (lines === 503) throw new OwnerError("stopping", "the owner is stopping");
  if (typeof lines === "number") throw unavailable(OTHER_BUILD);
  for await (const line of lines) {
    heard();
    if (line.startsWith(RESPONSE)) return line.slice(1);
    if (line.startsWith(NOTIFICATION)) tell(line.slice(1));
  }
  throw new OwnerError("unreachable", "aborted");
}

export const OTHER_BUILD =
  'The running owner is of another build and does not understand this call: "butler stop" ends it.';
