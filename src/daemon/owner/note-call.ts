/** Measures a call of a tool, whichever door it came through, until its answer. */

import { inTenant, type Principal } from "../../doors/backend.ts";
import { refusalKind } from "../../doors/refusals.ts";
import { secondsSince } from "../../engine/adapters/meter.ts";
import { isOurs } from "../../engine/domain/errors.ts";
import { toolNamed } from "../../engine/tools/index.ts";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import { viewNamed } from "../../engine/views/index.ts";
import type { OwnerState } from "./owner-state.ts";

/** Remembers how long the answer took. Views are for pages, which nobody measures the memory by. */
export async function noteCall(
  { calls, meter, butlers }: OwnerState,
  butler: string,
  { tool: asked, door = "inside" }: ToolRequest,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const started = performance.now();
  const outcome = await work();
  // Names that callers made up would be labels without end.
  if (!butlers.byName.has(butler)) return outcome;
  const tool = (viewNamed(asked) ?? toolNamed(asked))?.name ?? "unknown";
  const error = outcome.ok ? "" : outcome.error.code;
  meter.observe("butler_tool_duration_seconds", { butler, tool, door, error }, secondsSince(started));
  if (toolNamed(asked) !== undefined)
    calls.note({ butler, tool, ms: performance.now() - started, failed: error !== "" && isOurs(error) });
  return outcome;
}

/** Has it written down when the caller may not do that; the outcome is handed on. */
export function noteRefusal(
  { parts, butlers }: OwnerState,
  principal: Principal,
  butler: string,
  { door = "inside" }: ToolRequest,
  outcome: Outcome,
): Outcome {
  const kind = outcome.ok ? undefined : refusalKind(outcome.error);
  const served = butlers.byName.get(butler);
  if (kind !== undefined && served !== undefined)
    parts.refusals?.note({ kind, door, butler, by: inTenant(principal, served.config.tenant) });
  return outcome;
}
