/** The failures that MCP has no result form for. Apart from failures.ts, so that the command line need not load the SDK. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Failure } from "../../engine/tools/outcome.ts";
import { wireFailure } from "../failures.ts";

/** For resources, prompts and unknown tools; `data` carries the failure, and `more` beside it. */
export function mcpProtocolError(failure: Failure, more: Record<string, unknown> = {}): ProtocolError {
  const ours = failure.code === "internal" || failure.code === "unavailable";
  return new ProtocolError(ours ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams, failure.message, {
    ...more,
    ...wireFailure(failure),
  });
}
