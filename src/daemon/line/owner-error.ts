import type { Home } from "../home.ts";

/**
 * Why a question to the owner has no answer. `unreachable`: no process answers at the socket, or it ended before its answer was whole.
 * `stopping`: the owner sends its callers to the next one. `timeout`: the owner is alive but did not answer in time.
 */
export type OwnerErrorCode = "unreachable" | "stopping" | "timeout";

export class OwnerError extends Error {
  readonly code: OwnerErrorCode;

  constructor(code: OwnerErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "OwnerError";
    this.code = code;
  }
}

/** A question may be repeated under the same key, except to an owner that is too slow: repeating would only pile up work. */
export function mayRepeat(error: unknown): error is OwnerError {
  return error instanceof OwnerError && error.code !== "timeout";
}

export const notInTime = (home: Home): string =>
  `No owner of the memory could be reached in time; ${home.ownerLog} may say why.`;
