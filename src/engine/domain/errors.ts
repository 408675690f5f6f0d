/** Every failure that a caller may see. Anything else is a bug and leaves the doors as `internal`. */
export const ERROR_CODES = [
  "invalid_input",
  "unauthorized",
  "forbidden",
  "not_found",
  "conflict",
  "integrity",
  "unavailable",
  "over_budget",
  "internal",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Failures that no caller can avoid: what a caller did wrong is not counted as an error of the memory. */
export const isOurs = (code: ErrorCode): boolean =>
  code === "internal" || code === "unavailable" || code === "integrity";

export class MemoryError extends Error {
  readonly code: ErrorCode;
  /** The input field at fault, as a dotted path. */
  readonly field: string | undefined;

  constructor(code: ErrorCode, message: string, options: { field?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "MemoryError";
    this.code = code;
    this.field = options.field;
  }
}

export const invalid = (field: string, message: string) => new MemoryError("invalid_input", message, { field });
export const notFound = (message: string) => new MemoryError("not_found", message);
export const forbidden = (message: string, field?: string) =>
  new MemoryError("forbidden", message, field === undefined ? {} : { field });
export const conflict = (message: string) => new MemoryError("conflict", message);
export const integrity = (message: string, cause?: unknown) => new MemoryError("integrity", message, { cause });
export const unavailable = (message: string, cause?: unknown) => new MemoryError("unavailable", message, { cause });

/** The words of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Its first line, for a sentence that goes on after it. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error);
  return message.split("\n", 1)[0] ?? message;
}

/** The code of an error of the operating system. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;

export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}
