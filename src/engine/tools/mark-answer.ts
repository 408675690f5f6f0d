import { z } from "zod";
import { MATURITY } from "../domain/lifecycle/maturity.ts";
import { shortId } from "../domain/short-id.ts";
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

export const markBrief = {
  shape: { id: z.string(), maturity: z.string(), helpful: z.number(), harmful: z.number() },
  tell: (a: z.infer<typeof markOutput>) => ({
    id: shortId(a.id),
    ...(a.inverted ? { inverted: true } : {}),
    ...(a.counted ? {} : { counted: false }),
    maturity: a.maturity,
    helpful: a.success_count,
    harmful: a.harmful_count,
  }),
};

export function markText(a: z.infer<typeof markOutput>): string {
  const counts = `${a.success_count} helpful, ${a.harmful_count} harmful, effectiveness ${a.effectiveness.toFixed(2)}`;
  if (a.inverted) return `Rule ${shortId(a.id)} is now a warning (${counts}): ${a.content}`;
  const moved = a.maturity === a.previous_maturity ? a.maturity : `${a.previous_maturity} → ${a.maturity}`;
  return `${a.counted ? "Marked" : "This session had already marked"} rule ${shortId(a.id)}: ${moved} (${counts}).`;
}
