import { z } from "zod";
import { shortId } from "../domain/short-id.ts";
import { forget } from "../memory/remember/forget.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";

export const memoryForget = defineTool({
  name: "memory_forget",
  title: "Forget a memory",
  description:
    "Take a memory out of sight. It is kept for memory_restore, and the audit stream says who forgot it and why.",
  input: f.input({
    type: f.type.optional().describe("May be left out: ids are unique over all types."),
    id: f.memoryId,
    reason: f.text(2000).optional(),
  }),
  output: f.output({ type: f.type, id: z.string(), state: z.literal("retracted"), recoverable: z.boolean() }),
  effect: "forget",
  core: true,
  run: (call, input) => forget(call, input),
  text: (a) => `Forgot ${a.type} ${shortId(a.id)}; memory_restore brings it back.`,
  brief: {
    shape: { id: z.string(), state: z.string(), recoverable: z.boolean() },
    tell: (a) => ({ id: shortId(a.id), state: a.state, recoverable: a.recoverable }),
  },
});
