import { z } from "zod";
import { blockJson, blockText } from "../domain/ranking/block-json.ts";
import { context } from "../memory/recall/context.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";

export const contextFields = {
  trigger_prompt: f.text(f.CONTENT_MAX).describe("The prompt the session starts with."),
  butler: f.butler.optional(),
  token_budget: z.number().int().min(1).max(100_000).optional().describe("3000 if left out; never exceeded."),
  as_of: f.asOf.optional(),
  except: z.array(f.id).max(1_000).optional().describe("Ids this session was told already; they are not told again."),
  except_session: f
    .text(200)
    .optional()
    .describe("A session is not told what stems from itself alone: its episodes, and what only they have taught."),
  min_fit: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe(
      "Leave out what fits the prompt less than this; 0. About 0.36 tells memories on the subject from others.",
    ),
  lasting: z.boolean().optional().describe("False: without what is told whatever the prompt is."),
  opening: z
    .boolean()
    .optional()
    .describe(
      "True: the block that a session starts with. The prompt is not searched for; 600 tokens if no budget is given.",
    ),
};

export const contextAnswer = {
  text: z.string().describe("The block to put into the prompt; empty when there is nothing to say."),
  tokens: z.number(),
  budget: z.number(),
  hash: z.string().describe("Of the text: the same memories and prompt give the same bytes."),
  prefix: z
    .object({ bytes: z.number(), hash: z.string() })
    .describe("The first bytes of the text that stay the same whatever the prompt is, until memory changes."),
  sections: z.array(
    z.object({
      name: z.string(),
      items: z.array(z.object({ type: f.type, id: z.string(), score: z.number() })),
      dropped: z.number(),
    }),
  ),
  degraded: f.degraded,
  as_of: z.string().optional(),
};

const lines = z.array(z.string());
/** The sections of the block; which there are depends on what is remembered. */
export const blockShape = {
  note: z.string(),
  always: lines,
  facts: lines,
  rules: lines,
  earlier: lines,
  lately: lines,
};

export const memoryContext = defineTool({
  name: "memory_context",
  title: "Context for a prompt",
  description:
    "The block of memory to start a task with: lasting facts and rules, then what the prompt calls for, within a token budget. Not needed where a butler-memory block is in the conversation already.",
  input: f.input({ ...contextFields, explain: f.explain }),
  output: f.output(contextAnswer),
  effect: "read",
  core: true,
  run: (call, input) => context(call, input),
  text: (a) => blockText(a.text, a.budget),
  brief: { shape: blockShape, tell: (a) => blockJson(a.text, a.budget) },
});
