import { recall } from "../memory/recall/search.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";
import { resultsBrief, resultsOutput, resultsText } from "./results.ts";

export const memoryRecall = defineTool({
  name: "memory_recall",
  title: "Recall a topic",
  description:
    "What is known for certain about a topic and how to behave there: facts and rules, no episodes. Before you guess or ask the user.",
  input: f.input({
    topic: f.text(4000),
    scope: f.scope.optional(),
    limit: f.limit(200).optional().describe("10 if left out."),
    explain: f.explain,
  }),
  output: resultsOutput,
  effect: "read",
  core: true,
  run: async (call, input) => {
    const answer = await recall(call, input);
    return { ...answer, results: [...answer.results] };
  },
  text: resultsText,
  brief: resultsBrief,
});
