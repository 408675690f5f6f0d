/** The form of a failure at each door: HTTP status, exit code, hint. One table, so that the doors agree. */

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Log } from "../engine/adapters/log.ts";
import { ERROR_CODES, type ErrorCode, MemoryError } from "../engine/domain/errors.ts";
import { isRecord } from "../engine/domain/record.ts";
import { noSuchTool } from "../engine/tools/index.ts";
import type { Failure } from "../engine/tools/outcome.ts";

/** 0 done, 1 failed, 2 wrong usage, 3 not found, 4 refused. */
export type ExitCode = 0 | 1 | 2 | 3 | 4;

type FailureStatus = 400 | 401 | 403 | 404 | 409 | 422 | 429 | 500 | 503;

interface FailureForm {
  readonly status: FailureStatus;
  readonly exit: ExitCode;
  /** What a person can do next; shown under the sentence on the command line. */
  readonly hint: string;
}

const FORMS: Readonly<Record<ErrorCode, FailureForm>> = {
  invalid_input: { status: 400, exit: 2, hint: "--help shows what the command takes." },
  unauthorized: { status: 401, exit: 4, hint: "butler token create makes a token." },
  forbidden: { status: 403, exit: 4, hint: "butler token list shows what your token may do." },
  not_found: {
    status: 404,
    exit: 3,
    hint: "It may have been forgotten or expired: butler search finds what is there.",
  },
  conflict: { status: 409, exit: 4, hint: "Read the memory again, then repeat the change if it is still right." },
  integrity: { status: 422, exit: 4, hint: "Nothing was changed. butler doctor looks for the cause." },
  unavailable: { status: 503, exit: 1, hint: "butler doctor says what is down; trying again later is safe." },
  over_budget: { status: 429, exit: 1, hint: "The budget stands in butler.toml and starts anew tomorrow." },
  internal: { status: 500, exit: 1, hint: "The log has the details; butler doctor checks the installation." },
};

export const httpStatus = (code: ErrorCode): FailureStatus => FORMS[code].status;
/** Too much of one caller is 429; what this server itself cannot do right now is 503. */
export const statusOf = ({ code, field }: Failure): FailureStatus =>
  code === "unavailable" && field === "rate" ? 429 : httpStatus(code);
export const exitCode = (code: ErrorCode): ExitCode => FORMS[code].exit;
export const hint = (code: ErrorCode): string => FORMS[code].hint;

/** The wire form, the same under `error` in an HTTP body and in an MCP result. Absent fields are left out. */
export function wireFailure(failure: Failure): Failure {
  const { code, message, field, request_id, retry_after } = failure;
  return {
    code,
    message,
    ...(retry_after === undefined ? {} : { retry_after }),
    ...(field === undefined ? {} : { field }),
    ...(request_id === undefined ? {} : { request_id }),
  };
}

/** Anything thrown becomes a failure. An error that is no `MemoryError` is a bug: the log gets all of it, the caller one sentence. */
export function toFailure(error: unknown, log: Log): Failure {
  if (error instanceof MemoryError) {
    const { code, message, field } = error;
    return wireFailure(field === undefined ? { code, message } : { code, message, field });
  }
  log.error({ err: error }, "a door met an unexpected error");
  return { code: "internal", message: "Something went wrong inside Butler Memory; its log has the details." };
}

export const unknownTool = (name: string): Failure => ({
  code: "not_found",
  message: noSuchTool(name),
  field: "tool",
});

/**
 * A refused call is a tool result, not a protocol error: only then does the model read the sentence and correct itself.
 * The advertised output schema allows `error` too (see advertise.ts), because clients of the 2025 SDK check an error's
 * structured content against it and would show a schema complaint instead of the sentence.
 */
export function mcpFailure(failure: Failure): CallToolResult {
  return {
    isError: true,
    content: [{ type: "text", text: failure.message }],
    structuredContent: { error: wireFailure(failure) },
  };
}

/** For clients: reads the failure back out of what `mcpFailure` or the HTTP door sent. */
export function readFailure(body: unknown): Failure | undefined {
  const error = isRecord(body) ? body.error : undefined;
  if (!isRecord(error) || typeof error.message !== "string") return undefined;
  const code = ERROR_CODES.find((known) => known === error.code) ?? "internal";
  return wireFailure({
    code,
    message: error.message,
    ...(typeof error.field === "string" ? { field: error.field } : {}),
    ...(typeof error.retry_after === "number" ? { retry_after: error.retry_after } : {}),
    ...(typeof error.request_id === "string" ? { request_id: error.request_id } : {}),
  });
}
