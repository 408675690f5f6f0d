import { z } from "zod";
import { EVERY_SCOPE } from "../../domain/scope.ts";
import { stats } from "../../memory/stats.ts";
import { type Counted, countByScope } from "../../store/memories/stats.ts";
import * as f from "../../tools/fields.ts";
import { memoryStats } from "../../tools/memory-stats.ts";
import * as v from "../common.ts";
import { defineView } from "../define.ts";
import { lately } from "./lately.ts";

/** Counting reads every fact and episode: beside 1,000,000 events it took half a second of CPU time. */
const MANY_EVENTS = 20_000;
const isLarge = (counted: readonly Counted[]): boolean =>
  counted.reduce((sum, { what, n }) => (what === "event" ? sum + n : sum), 0) > MANY_EVENTS;

export const viewStats = defineView({
  name: "view_stats",
  title: "How the memory is doing",
  input: f.input({ scope: f.scope.optional() }),
  output: memoryStats.output.extend({
    counted_at: z
      .string()
      .describe("In a large store at the last look, at most an hour ago: counts reads the numbers of this moment."),
  }),
  async run(call, { scope }) {
    const asked = scope ?? (call.caller.admin ? EVERY_SCOPE : undefined);
    // Counted once for all scopes of the tenant; which of them this caller may read is checked with each answer.
    const { tenant } = v.seenBy(call, { scope: asked });
    const all = () => countByScope(call.memory.db, { tenant, scopes: undefined, now: call.now });
    const { answer: counted, at } = await lately(call, tenant, all, isLarge);
    const answer = await stats(call, { scope: asked, counted });
    return { ...answer, counted_at: at.toISOString() };
  },
});
