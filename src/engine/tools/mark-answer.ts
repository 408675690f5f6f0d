import { z } from "zod";
import { MATURITY } from "../domain/lifecycle/maturity.ts";
import * as f from "./fields.ts";

/** Both marks answer with the rule as it stands now. */
export const markOutput = f.output({
  id: z.string(),
  content: z.string(),
  applied_count: z.number(),
  success_count: z.number(),
  harmful_count: z.number(),
  effectiveness: z.number(),
  maturity: z.enum(MATURITY),
  previous_maturity: z.enum(MATURITY),
  counted: z.boolean().describe("False when this session had already told this outcome."),
  inverted: z.boolean().describe("True when this mark turned the rule into a warning."),
});

export function markText(a: z.infer<typeof markOutput>): string {
  const counts = `${a.success_count} helpful, ${a.harmful_count} harmful, effectiveness ${a.effectiveness.toFixed(2)}`;
  if (a.inverted) return `Rule ${a.id} is now a warning (${counts}): ${a.content}`;
  const moved = a.maturity === a.previous_maturity ? a.maturity : `${a.previous_maturity} → ${a.maturity}`;
  return `${a.counted ? "Marked" : "This session had already marked"} rule ${a.id}: ${moved} (${counts}).`;
}
