import { z } from "zod";
import { forbidden, MemoryError } from "../domain/errors.ts";
import { blockJson, blockText } from "../domain/ranking/block-json.ts";
import { butlerOf } from "../domain/scope.ts";
import { Cancelled, tellShare } from "../memory/following.ts";
import type { Call } from "../memory/memory.ts";
import { context } from "../memory/recall/context.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";
import { checkInput } from "./invalid-input.ts";
import { blockShape, contextAnswer, contextFields } from "./memory-context.ts";
import { lenientRow, RowError } from "./rows.ts";

const Request = z.strictObject(contextFields);

export const memoryContextBatch = defineTool({
  name: "memory_context_batch",
  title: "Context for many prompts",
  description: "Several memory_context requests at once; answers in order, each its own success or error.",
  input: f.input({ requests: z.array(lenientRow(Request)).min(1).max(50) }),
  output: f.output({
    responses: z.array(z.union([z.object({ ok: z.literal(true), ...contextAnswer }), RowError])),
  }),
  effect: "read",
  core: false,
  async run(call, { requests }) {
    let done = 0;
    const answered = async (request: unknown, index: number) => {
      const response = await one(call, request, index);
      done += 1;
      tellShare(call, done, requests.length, "requests answered");
      return response;
    };
    return { responses: await Promise.all(requests.map(answered)) };
  },
  text: (a) =>
    a.responses.map((r, i) => `${i + 1}. ${r.ok ? blockText(r.text, r.budget) : r.error.message}`).join("\n"),
  brief: {
    shape: { responses: z.array(z.object({ ...blockShape, error: z.unknown() })) },
    tell: (a) => ({
      responses: a.responses.map((r) => (r.ok ? blockJson(r.text, r.budget) : { error: r.error.message })),
    }),
  },
});

async function one(call: Call, request: unknown, index: number) {
  try {
    const checked = checkInput(Request, request, `requests.${index}`);
    if (!checked.ok) throw checked.error;
    const { butler } = checked.value;
    if (butler !== undefined && butler !== butlerOf(call.caller.butler))
      throw forbidden(`butler "${butler}" is not yours.`, `requests.${index}.butler`);
    return { ok: true as const, ...(await context(call, checked.value)) };
  } catch (error) {
    if (!(error instanceof MemoryError) || error instanceof Cancelled) throw error;
    return {
      ok: false as const,
      error: { code: error.code, message: error.message, ...(error.field ? { field: error.field } : {}) },
    };
  }
}
