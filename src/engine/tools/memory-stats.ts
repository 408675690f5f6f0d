import { z } from "zod";
import { stats } from "../memory/stats.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";

const Section = z.looseObject({});
const Counts = z.record(z.string(), z.number());

export const memoryStats = defineTool({
  name: "memory_stats",
  title: "Memory statistics",
  description: "How the memory is doing: counts by tier, state and maturity, the backlog, confidence and duplicates.",
  input: f.input({ scope: f.scope.optional() }),
  output: f.output({
    episodes: z.object({
      total: z.number(),
      by_tier: Counts,
      by_status: Counts,
      backlog: z.number(),
      backlog_age_hours: z.number().describe("Of the oldest that waits to be learned from."),
      backlog_age_p95_hours: z.number(),
    }),
    consolidation: z.object({
      runs_done: z.number(),
      runs_failed: z.number(),
      cost_usd: z.number(),
      learned_after_p95_hours: z
        .number()
        .nullable()
        .describe("Age of the last week's episodes when they were learned from."),
      failing: z
        .object({ runs: z.number(), since: z.string(), provider: z.string(), reason: z.string() })
        .nullable()
        .describe("Why nothing is learned from what waits; null when all is well."),
    }),
    facts: z.object({
      total: z.number(),
      by_state: Counts,
      waiting: z.number().describe("Facts that begin on a day ahead."),
      confidence_histogram: z.array(z.number()).describe("Live facts by effective confidence, in tenths."),
    }),
    rules: z.object({
      total: z.number(),
      by_maturity: Counts,
      effectiveness: z.number().nullable().describe("Mean over the rules that were applied."),
      applications: z.number(),
    }),
    links: z.number(),
    events: z.number(),
    duplicate_rate: z.number(),
    degraded: f.degraded,
  }),
  effect: "read",
  core: false,
  run: (call, input) => stats(call, input),
  text: (a) => {
    const list = (counts: Record<string, number>) =>
      Object.entries(counts)
        .map(([k, n]) => `${k} ${n}`)
        .join(", ");
    return [
      `Episodes: ${a.episodes.total} (${list(a.episodes.by_tier)}); backlog ${a.episodes.backlog}, ${a.episodes.backlog_age_hours.toFixed(1)} h old.`,
      `Consolidation: ${a.consolidation.runs_done} runs, ${a.consolidation.runs_failed} failed, $${a.consolidation.cost_usd.toFixed(2)}.`,
      ...(a.consolidation.failing === null
        ? []
        : [`Nothing was learned since ${a.consolidation.failing.since}: ${a.consolidation.failing.reason}`]),
      `Facts: ${a.facts.total} live (${list(a.facts.by_state)})${a.facts.waiting === 0 ? "" : `, ${a.facts.waiting} waiting for their day`}.`,
      `Rules: ${a.rules.total} (${list(a.rules.by_maturity)}); effectiveness ${a.rules.effectiveness?.toFixed(2) ?? "not known yet"}.`,
      `Links: ${a.links}. Events: ${a.events}. Duplicates: ${(a.duplicate_rate * 100).toFixed(1)} %.`,
      ...(a.degraded === undefined ? [] : [`(${a.degraded})`]),
    ].join("\n");
  },
  brief: {
    shape: {
      episodes: Section,
      facts: Section,
      rules: Section,
      consolidation: Section,
      duplicate_rate: z.number(),
      degraded: z.string(),
    },
    tell: ({ episodes, facts, rules, consolidation, duplicate_rate, degraded }) => ({
      episodes: { total: episodes.total, backlog: episodes.backlog, by_tier: episodes.by_tier },
      facts: { total: facts.total, by_state: facts.by_state },
      rules: { total: rules.total, by_maturity: rules.by_maturity },
      ...(consolidation.failing === null ? {} : { consolidation: { failing: consolidation.failing } }),
      duplicate_rate,
      degraded,
    }),
  },
});
