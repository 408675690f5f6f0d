import { mark } from "../memory/remember/mark-rule.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";
import { markBrief, markOutput, markText } from "./mark-answer.ts";

export const memoryMarkHelpful = defineTool({
  name: "memory_mark_helpful",
  title: "Mark a rule helpful",
  description: "Say that applying a rule helped. Enough of these, and it is established, later proven.",
  input: f.input({
    rule_id: f.memoryId,
    session_id: f.name.optional().describe("With it, a session counts once per rule and outcome."),
    note: f.text(2000).optional(),
  }),
  output: markOutput,
  effect: "write",
  core: true,
  run: (call, input) => mark(call, "helpful", input),
  text: markText,
  brief: markBrief,
});
