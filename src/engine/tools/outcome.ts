/** The outcome of a tool call, the same at every door and over the local socket. */
import type { Door } from "../adapters/meter.ts";
import type { ErrorCode } from "../domain/errors.ts";

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly field?: string;
  readonly request_id?: string;
  /** Seconds after which the same call may be answered. */
  readonly retry_after?: number;
}

export type Outcome<Answer = Record<string, unknown>> =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly error: Failure };

/** A call as a door receives it, before anything is checked. */
export interface ToolRequest {
  readonly tool: string;
  readonly input: unknown;
  /** From the `Idempotency-Key` header or made by a proxy; an `idempotency_key` argument wins. */
  readonly idempotencyKey?: string;
  readonly session?: string;
  /** The project a coding agent works in: its memories are filed apart from those of other projects. */
  readonly project?: string;
  /** The tenant to look at, from the `X-Butler-Tenant` header; another one than the token's needs a token for that. */
  readonly tenant?: string;
  /** Set by the door itself, never by who calls. */
  readonly door?: Door;
  /** Of a caller with a token, to whom limits apply. Set by the door itself, never by who calls. */
  readonly limited?: boolean;
  /** ISO time of a local caller with BUTLER_NOW; refused by an owner on real time. */
  readonly now?: string;
}
