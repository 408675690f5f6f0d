import { errorCode } from "../../engine/domain/errors.ts";

/**
 * What may be logged about an error that occurred while somebody's words were processed: its code or its class. Its message may quote them, as
 * those of invalid patterns and invalid JSON do.
 */
export function faultOf(error: unknown): string {
  return errorCode(error) ?? (error instanceof Error ? error.constructor.name : "unknown");
}
