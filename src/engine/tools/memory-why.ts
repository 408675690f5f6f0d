import { z } from "zod";
import { CHECKS } from "../memory/recall/why/step.ts";
import { why } from "../memory/recall/why/why.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";
import { Result } from "./results.ts";
import { stepWords, whyWords } from "./why-words.ts";

export const memoryWhy = defineTool({
  name: "memory_why",
  title: "Why a memory is shown or not",
  description:
    "Says for one memory and one question how it got its place in a search or a context block, or what kept it out, check by check. Changes nothing.",
  input: f.input({
    id: f.memoryId,
    query: f.text(f.CONTENT_MAX).describe("The question of the search, or the prompt of the context."),
    for: z
      .enum(["search", "context"])
      .optional()
      .describe("search if left out; then with the filters of memory_search."),
    types: z.array(f.type).min(1).max(3).optional(),
    scope: f.scope.optional(),
    mode: z.enum(["hybrid", "semantic", "keyword"]).optional(),
    limit: f.limit(200).optional(),
    min_confidence: f.confidence.optional(),
    min_relevance: f.confidence.optional(),
    tier: f.tier.optional(),
    tags: f.tags.optional(),
    rank: z.enum(["relevance", "composite"]).optional(),
    token_budget: z.number().int().min(1).max(100_000).optional().describe("Of the context."),
  }),
  output: f.output({
    id: z.string(),
    type: f.type,
    for: z.enum(["search", "context"]),
    shown: z.boolean(),
    place: z.number().nullable().describe("In the whole ranking, from 1, also beyond the limit."),
    of: z.number().describe("How many were ranked."),
    limit: z.number().nullable(),
    verdict: z.string().describe("How it got in, or the first thing that kept it out."),
    steps: z.array(z.object({ check: z.enum(CHECKS), ok: z.boolean(), words: z.string() })),
    explain: Result.shape.explain,
    degraded: f.degraded,
  }),
  effect: "read",
  core: false,
  run: async (call, input) => {
    const answer = await why(call, input);
    return { ...answer, steps: [...answer.steps] };
  },
  text: (answer) => whyWords(answer, { lead: "why", bars: false }),
  brief: {
    shape: { shown: z.boolean(), verdict: z.string(), steps: z.array(z.unknown()) },
    tell: ({ shown, verdict, steps }) => ({ shown, verdict, steps: steps.map(stepWords) }),
  },
});
