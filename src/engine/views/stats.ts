import { EVERY_SCOPE } from "../domain/scope.ts";
import { stats } from "../memory/stats.ts";
import * as f from "../tools/fields.ts";
import { memoryStats } from "../tools/memory-stats.ts";
import { defineView } from "./define.ts";

export const viewStats = defineView({
  name: "view_stats",
  title: "How the memory is doing",
  input: f.input({ scope: f.scope.optional() }),
  output: memoryStats.output,
  run: (call, { scope }) => stats(call, { scope: scope ?? (call.caller.admin ? EVERY_SCOPE : undefined) }),
});
