import { z } from "zod";
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
    rules: z.number().describe("Active or fading."),
    episodes: z.number().describe("Not forgotten; one whose time is over counts until the next cleanup."),
    contradictions: z.number(),
    dead_letters: z.number(),
    backlog: z.number(),
  }),
  async run(call, input) {
    const seen = v.seenBy(call, input);
    const { db } = call.memory;
    const [held, { contradictions, dead_letters, backlog }] = await Promise.all([
      countHeld(db, seen),
      countWaiting(db, seen),
    ]);
    return { ...held, contradictions, dead_letters, backlog };
  },
});
