import { errorCode } from "../../engine/domain/errors.ts";

/**
 * What may be written into a log about a failure over somebody's words: its code or its kind. Its message may quote them: that of a pattern
 * which cannot be built, or of JSON which cannot be read, does.
 */
export function faultOf(error: unknown): string {
  return errorCode(error) ?? (error instanceof Error ? error.constructor.name : "unknown");
}
