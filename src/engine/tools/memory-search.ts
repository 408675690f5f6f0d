import { z } from "zod";
import { search } from "../memory/recall/search.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";
import { resultsBrief, resultsOutput, resultsText } from "./results.ts";

export const memorySearch = defineTool({
  name: "memory_search",
  title: "Search memory",
  description:
    "Find episodes, facts and rules by words and by meaning: for something specific that the block does not hold, such as an earlier decision or error.",
  input: f.input({
    query: f.text(4000).describe("What you look for, as a question or as key words."),
    types: z.array(f.type).min(1).max(3).optional().describe("All three if left out."),
    scope: f.scope.optional(),
    mode: z.enum(["hybrid", "semantic", "keyword"]).optional(),
    limit: f.limit(200).optional().describe("20 if left out."),
    min_confidence: f.confidence.optional().describe("Least effective confidence; 0.2 if left out."),
    min_relevance: f.confidence
      .optional()
      .describe("Leave out what fits the query less than this; 0.2 if left out, 0 for everything."),
    tier: f.tier.optional().describe("Only episodes of this tier."),
    tags: f.tags.optional().describe("Only memories that have all of these."),
    rank: z.enum(["relevance", "composite"]).optional(),
    as_of: f.asOf.optional(),
    explain: z
      .boolean()
      .optional()
      .describe("Everything that is known of each result, whole, and how it got its place."),
  }),
  output: resultsOutput.extend({ as_of: z.string().optional() }),
  effect: "read",
  core: true,
  run: async (call, input) => {
    const answer = await search(call, input);
    return { ...answer, results: [...answer.results] };
  },
  text: resultsText,
  brief: resultsBrief,
});
