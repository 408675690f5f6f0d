/** A butler's memory kept by a shared Memory Butler: the same calls over MCP, with that service's token. Never throws. */

import { AsyncLocalStorage } from "node:async_hooks";
import type { CallToolResult, Client, ProtocolError, Progress as RemoteProgress } from "@modelcontextprotocol/client";
import { readFailure } from "../../doors/failures.ts";
import { ANSWER_KEY, WHOLE } from "../../doors/mcp/tool-result.ts";
import { type ErrorCode, errorCode, reasonOf } from "../../engine/domain/errors.ts";
import { Cancelled, type Following, type Progress } from "../../engine/memory/following.ts";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";

export interface RemoteMemory {
  readonly url: string;
  call(request: ToolRequest, following?: Following): Promise<Outcome>;
  /** Fails with the reason when the service does not answer. */
  probe(): Promise<unknown>;
  close(): Promise<void>;
}

export interface RemoteParts {
  readonly url: string;
  /** Asked for at each connection: a token file may be replaced while the owner runs. */
  token(): string | undefined;
  readonly version: string;
  readonly answerMs?: number;
}

const ANSWER_MS = 10_000;
/** After a call that timed out, calls are refused for this long without asking the service. */
const REST_MS = 5_000;

/** `http://host/butlers/memory` means its MCP endpoint. */
function endpointOf(service: string): URL {
  const url = new URL(service);
  if (!url.pathname.endsWith("/mcp")) url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, "")}/mcp`;
  return url;
}

export function remoteMemory(parts: RemoteParts): RemoteMemory {
  const { answerMs = ANSWER_MS } = parts;
  const endpoint = endpointOf(parts.url);
  /** Of one call: the transport takes headers and a signal only for all calls together. */
  const extras = new AsyncLocalStorage<{ headers: Record<string, string>; signal: AbortSignal | undefined }>();
  let connected: Promise<Client> | undefined;
  let resting: { readonly until: number; readonly outcome: Outcome } | undefined;

  function connect(): Promise<Client> {
    connected ??= open().catch((error: unknown) => {
      connected = undefined;
      throw error;
    });
    return connected;
  }

  async function open(): Promise<Client> {
    // Loaded here: half a megabyte of code that an owner without a shared memory never needs.
    const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const token = parts.token();
    const client = new Client({ name: "butler-memory", version: parts.version });
    const transport = new StreamableHTTPClientTransport(endpoint, {
      requestInit: { headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } },
      fetch: (url, init) => {
        const headers = new Headers(init?.headers);
        const { headers: more = {}, signal } = extras.getStore() ?? {};
        for (const [name, value] of Object.entries(more)) headers.set(name, value);
        // A service that keeps nothing of a connection knows that a call was cancelled by its closed request.
        const signals = [init?.signal, signal].filter((one) => one != null);
        return fetch(url, { ...init, headers, signal: AbortSignal.any(signals) });
      },
    });
    await client.connect(transport, { timeout: answerMs });
    return client;
  }

  async function forget(): Promise<void> {
    const old = connected;
    connected = undefined;
    await old?.then((client) => client.close()).catch(() => undefined);
  }

  async function once(request: ToolRequest, { signal, progress }: Following): Promise<Outcome> {
    const client = await connect();
    const input = (request.input ?? {}) as Record<string, unknown>;
    const asked = { name: request.tool, arguments: input, _meta: { [ANSWER_KEY]: WHOLE } };
    const result = await extras.run({ headers: headersOf(request), signal }, () =>
      client.callTool(asked, {
        timeout: answerMs,
        // A service that reports progress is not too slow.
        resetTimeoutOnProgress: true,
        ...(signal && { signal }),
        ...(progress && { onprogress: (told) => progress(stepOf(told)) }),
      }),
    );
    return outcomeOf(result as CallToolResult);
  }

  return {
    url: endpoint.href,
    async call(request, following = {}) {
      if (resting && performance.now() < resting.until) return resting.outcome;
      resting = undefined;
      for (let attempt = 0; ; attempt++) {
        try {
          return await once(request, following);
        } catch (error) {
          if (following.signal?.aborted) return cancelled();
          if (isProtocolError(error)) return refused(error);
          await forget();
          const outcome = failed(endpoint, error);
          // The connection broke, perhaps by a restart of the service: a call with a key is repeated once under the same key.
          if (attempt === 0 && request.idempotencyKey !== undefined && wasCutOff(error)) continue;
          if (isTimeout(error)) resting = { until: performance.now() + REST_MS, outcome };
          return outcome;
        }
      }
    },
    async probe() {
      try {
        return await (await connect()).ping({ timeout: answerMs });
      } catch (error) {
        await forget();
        throw error;
      }
    },
    close: forget,
  };
}

function headersOf({ idempotencyKey, session, project }: ToolRequest): Record<string, string> {
  return {
    ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
    ...(session === undefined ? {} : { "X-Butler-Session": session }),
    ...(project === undefined ? {} : { "X-Butler-Project": project }),
  };
}

const stepOf = ({ progress, total, message = "" }: RemoteProgress): Progress => ({ done: progress, total, message });

function cancelled(): Outcome {
  const { code, message } = new Cancelled();
  return { ok: false, error: { code, message } };
}

function outcomeOf(result: CallToolResult): Outcome {
  const answer = (result.structuredContent ?? {}) as Record<string, unknown>;
  if (!result.isError) return { ok: true, answer };
  const words = result.content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
  return { ok: false, error: readFailure(answer) ?? { code: "internal", message: words } };
}

function refused(error: ProtocolError): Outcome {
  return { ok: false, error: readFailure({ error: error.data }) ?? { code: "invalid_input", message: error.message } };
}

const STATUS: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  401: ["unauthorized", "does not know this token; see service_token_env and service_token_file in butler.toml"],
  403: ["forbidden", "does not let this token in; it must be of the butler that calls"],
  404: ["not_found", "has no such butler; service must name it, as in http://host:4270/butlers/memory"],
};

function failed(endpoint: URL, error: unknown): Outcome {
  const [code, words] = STATUS[statusOf(error) ?? 0] ?? [
    "unavailable" as const,
    `cannot be reached (${causeOf(error)})`,
  ];
  return { ok: false, error: { code, message: `The shared memory at ${endpoint.origin} ${words}.` } };
}

/** `fetch failed` is the message of every failed fetch; what failed is its cause. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return reasonOf(cause instanceof Error && cause.message !== "" ? cause : error).replace(/\.$/, "");
}

/** The library's code for a call that ran into its time limit (`SdkErrorCode.RequestTimeout`). */
const REQUEST_TIMEOUT = "REQUEST_TIMEOUT";
/** Request Timeout, and Gateway Timeout of a proxy before the service. */
const TIMEOUT_STATUS: readonly (number | undefined)[] = [408, 504];

const isTimeout = (error: unknown): boolean =>
  errorCode(error) === REQUEST_TIMEOUT || TIMEOUT_STATUS.includes(statusOf(error));
const wasCutOff = (error: unknown): boolean => statusOf(error) === undefined && !isTimeout(error);

/** Known by its shape: its class is loaded with the first connection. */
const isProtocolError = (error: unknown): error is ProtocolError =>
  error instanceof Error && "code" in error && typeof error.code === "number" && statusOf(error) === undefined;

const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && "status" in error && typeof error.status === "number" ? error.status : undefined;
