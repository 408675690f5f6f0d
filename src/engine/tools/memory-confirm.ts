import { z } from "zod";
import { shortId } from "../domain/short-id.ts";
import { confirm } from "../memory/remember/confirm.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";

export const memoryConfirm = defineTool({
  name: "memory_confirm",
  title: "Confirm a memory",
  description: "Say that a fact or rule still holds: its confidence starts anew, and a fading one is active again.",
  input: f.input({ type: z.enum(["fact", "rule"]).optional(), id: f.memoryId }),
  output: f.output({
    type: z.enum(["fact", "rule"]),
    id: z.string(),
    last_confirmed_at: z.string(),
    effective_confidence: z.number(),
    state: f.state,
  }),
  effect: "write",
  core: true,
  run: async (call, input) => {
    const answer = await confirm(call, input);
    return { ...answer, state: f.state.parse(answer.state) };
  },
  text: (a) => `Confirmed ${a.type} ${shortId(a.id)}: confidence ${a.effective_confidence.toFixed(2)}.`,
  brief: {
    shape: { id: z.string(), confidence: z.number() },
    tell: (a) => ({ id: shortId(a.id), confidence: a.effective_confidence }),
  },
});
