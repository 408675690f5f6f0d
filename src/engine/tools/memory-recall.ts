import { recall } from "../memory/recall/search.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";
import { plainResultsOutput, resultsText } from "./results.ts";

export const memoryRecall = defineTool({
  name: "memory_recall",
  title: "Recall a topic",
  description:
    "What is known about a topic and how to behave there: the best facts and rules by relevance, importance, recency and confidence.",
  input: f.input({
    topic: f.text(4000),
    scope: f.scope.optional(),
    limit: f.limit(200).optional().describe("10 if left out."),
  }),
  output: plainResultsOutput,
  effect: "read",
  core: true,
  run: async (call, input) => {
    const answer = await recall(call, input);
    return { ...answer, results: [...answer.results] };
  },
  text: resultsText,
});
