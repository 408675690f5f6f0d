import { z } from "zod";
import { EVERY_SCOPE } from "../domain/scope.ts";
import { stats } from "../memory/stats.ts";
import * as f from "../tools/fields.ts";
import { memoryStats } from "../tools/memory-stats.ts";
import * as v from "./common.ts";
import { defineView } from "./define.ts";
import { lately } from "./lately.ts";

/** Counting reads every fact and episode: beside 1,000,000 events it took half a second of CPU time. */
const MANY_EVENTS = 20_000;
const isLarge = ({ events }: { readonly events: number }): boolean => events > MANY_EVENTS;

export const viewStats = defineView({
  name: "view_stats",
  title: "How the memory is doing",
  input: f.input({ scope: f.scope.optional() }),
  output: memoryStats.output.extend({
    counted_at: z.string().describe("In a large store some seconds ago: counts reads the numbers of this moment."),
  }),
  async run(call, { scope }) {
    const asked = scope ?? (call.caller.admin ? EVERY_SCOPE : undefined);
    // Checked before what was counted for somebody else is found.
    const { tenant, scopes } = v.seenBy(call, { scope: asked });
    const key = JSON.stringify([tenant, scopes ?? null, asked ?? null, call.caller.butler]);
    const { answer, at } = await lately(call, key, () => stats(call, { scope: asked }), isLarge);
    return { ...answer, counted_at: at.toISOString() };
  },
});
