import { z } from "zod";
import { normaliseKey } from "../../domain/text/text.ts";
import { listSubjects } from "../../store/browse/facts.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { defineView } from "../define.ts";

export const viewSubjects = defineView({
  name: "view_subjects",
  title: "Whom and what the live facts are about",
  input: f.input({
    ...v.placeFilter,
    q: f.text(256).optional().describe("Only subjects that begin so."),
    after: f.text(256).optional().describe("next of the page before."),
    limit: v.limit,
  }),
  output: f.output({
    subjects: z.array(
      z.object({
        subject: z.string().describe("Normalised, as the filter of facts takes it."),
        name: z.string().describe("As it was said."),
        facts: z.number(),
        fading: z.number(),
      }),
    ),
    next: z.string().nullable(),
  }),
  async run(call, input) {
    const { limit = v.PAGE, after } = input;
    const prefix = input.q === undefined ? undefined : normaliseKey(input.q);
    const { rows, last } = v.pageOf(
      await listSubjects(call.memory.db, { ...v.seenBy(call, input), prefix, after, limit: limit + 1 }),
      limit,
    );
    return { subjects: [...rows], next: last?.subject ?? null };
  },
});
