import { mark } from "../memory/remember/mark-rule.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";
import { markBrief, markOutput, markText } from "./mark-answer.ts";

export const memoryMarkHarmful = defineTool({
  name: "memory_mark_harmful",
  title: "Mark a rule harmful",
  description:
    "Say that applying a rule did harm, and why. Harm weighs four times as much as help; after the third time a poor rule becomes a warning.",
  input: f.input({
    rule_id: f.memoryId,
    reason: f.text(2000).optional().describe("What went wrong."),
    session_id: f.name.optional().describe("With it, a session counts once per rule and outcome."),
  }),
  output: markOutput,
  effect: "write",
  core: true,
  run: (call, input) => mark(call, "harmful", input),
  text: markText,
  brief: markBrief,
});
