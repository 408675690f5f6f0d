import { z } from "zod";
import { shortId } from "../domain/short-id.ts";
import { restore } from "../memory/remember/restore.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";

export const memoryRestore = defineTool({
  name: "memory_restore",
  title: "Restore a memory",
  description: "Bring back a forgotten or expired memory, unless a newer fact has taken its place.",
  input: f.input({ type: f.type.optional(), id: f.memoryId }),
  output: f.output({ type: f.type, id: z.string(), state: z.enum(["active", "fading"]) }),
  effect: "write",
  core: false,
  run: (call, input) => restore(call, input),
  text: (a) => `Restored ${a.type} ${shortId(a.id)}: it is ${a.state}.`,
  brief: { shape: { id: z.string(), state: z.string() }, tell: (a) => ({ id: shortId(a.id), state: a.state }) },
});
