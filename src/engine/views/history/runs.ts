import { z } from "zod";
import { type ListedRun, listRuns, spentSince } from "../../store/browse/runs.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { cursor, cursorOf, nextCursor, placeOf } from "../cursor.ts";
import { defineView } from "../define.ts";

const STATES = ["running", "done", "failed", "lost", "released"] as const;

export const Run = z.object({
  id: z.string(),
  scope: z.string(),
  state: z.enum(STATES),
  provider: z.string(),
  model: z.string(),
  started_at: z.string(),
  finished_at: z.string().nullable(),
  duration_ms: z.number().nullable(),
  episodes: z.number().describe("How many were read."),
  counts: z.record(z.string(), z.number()).describe("What came of it, such as facts_created or dropped_unsure."),
  input_tokens: z.number(),
  output_tokens: z.number(),
  cost_usd: z.number(),
  error: z.string().nullable(),
  failure: z.string().nullable(),
});

export const viewRuns = defineView({
  name: "view_runs",
  title: "Runs of consolidation, the newest first, and what the day has cost",
  input: f.input({ state: z.enum(STATES).optional(), ...v.placeFilter, cursor, limit: v.limit }),
  output: f.output({
    spend: z.object({ today_usd: z.number(), cap_usd: z.number() }),
    runs: z.array(Run),
    next_cursor: nextCursor,
  }),
  async run(call, input) {
    const { limit = v.PAGE, state } = input;
    const { db, settings } = call.memory;
    const seen = v.seenBy(call, input);
    const after = v.timedPlace(placeOf(input.cursor, 2));
    const day = new Date(`${call.now.toISOString().slice(0, 10)}T00:00:00Z`);
    const [found, today] = await Promise.all([
      listRuns(db, { ...seen, state, after, limit: limit + 1 }),
      spentSince(db, seen.tenant, day),
    ]);
    const { rows, last } = v.pageOf(found, limit);
    return {
      spend: { today_usd: today, cap_usd: settings.extractor.daily_budget_usd },
      runs: rows.map(shownRun),
      next_cursor: last === undefined ? null : cursorOf(last.started_at.toISOString(), last.id),
    };
  },
});

export function shownRun({ butler, counts, started_at, finished_at, ...run }: ListedRun): z.input<typeof Run> {
  return {
    ...run,
    scope: butler,
    counts: { ...counts },
    started_at: started_at.toISOString(),
    finished_at: v.iso(finished_at),
  };
}
