/** What an answer tells of how well memory is searched. */
import { FITS } from "../../domain/ranking/fit.ts";
import type { Call } from "../memory.ts";
import type { Retrieved } from "./retrieve.ts";

/** Called with what was returned to an agent; what people look at on a page says nothing of that. */
export function measureReturned(
  { memory: { meter, butler }, uncounted }: Call,
  kind: "search" | "context",
  returned: readonly Pick<Retrieved, "candidate" | "fit" | "effectiveConfidence">[],
): void {
  if (uncounted === true) return;
  const outcome = returned.some(({ fit }) => fit >= FITS) ? "fits" : "nothing";
  meter.count("butler_retrievals_total", { butler, kind, outcome });
  for (const { effectiveConfidence } of returned)
    meter.observe("butler_returned_confidence", { butler, kind }, effectiveConfidence);
  // One memory is as diverse as it can be, and would hide how alike the others are.
  if (returned.length < 2) return;
  const subjects = new Set(returned.map(({ candidate: c }) => c.subject ?? c.session_id ?? c.id));
  meter.observe("butler_returned_diversity", { butler, kind }, subjects.size / returned.length);
}
