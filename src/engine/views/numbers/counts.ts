import { z } from "zod";
import { countReviews } from "../../store/browse/review.ts";
import { countHeld, countWaiting } from "../../store/browse/today.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { defineView } from "../define.ts";

export const viewCounts = defineView({
  name: "view_counts",
  title: "How much there is, and what waits: the numbers that stand beside every page",
  input: f.input({ ...v.placeFilter }),
  output: f.output({
    facts: z.number().describe("Active or fading."),
    facts_waiting: z.number().describe("Facts that begin on a day ahead."),
    rules: z.number().describe("Active or fading."),
    episodes: z.number().describe("Not forgotten; one whose time is over counts until the next cleanup."),
    contradictions: z.number(),
    to_review: z.number().describe("What review lists."),
    dead_letters: z.number(),
    backlog: z.number(),
  }),
  async run(call, input) {
    const seen = v.seenBy(call, input);
    const { db } = call.memory;
    const [held, { contradictions, dead_letters, backlog }, to_review] = await Promise.all([
      countHeld(db, seen),
      countWaiting(db, seen),
      countReviews(db, seen),
    ]);
    return { ...held, contradictions, to_review, dead_letters, backlog };
  },
});
