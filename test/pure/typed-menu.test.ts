/** The types of the menu: tsc checks this file, and a line marked as an error that compiles is an error itself. */
import { expect, expectTypeOf, test } from "vitest";
import { type ToolAnswer, type ToolInput, type ToolName, tools } from "../../src/engine/tools/index.ts";
import { type TypedCall, typedCall } from "../../src/engine/tools/typed-call.ts";
import type { OpenedMemory } from "../../src/main/library.ts";

/** Compiled, never run. */
const wrong = [
  // @ts-expect-error: a misspelt argument.
  (call: TypedCall) => call("memory_search", { query: "tea", limits: 5 }),
  // @ts-expect-error: an argument of another type.
  (call: TypedCall) => call("memory_search", { query: 5 }),
  // @ts-expect-error: a missing argument.
  (call: TypedCall) => call("memory_store_fact", { subject: "Ada", content: "tea" }),
  // @ts-expect-error: a misspelt tool.
  (call: TypedCall) => call("memory_serch", { query: "tea" }),
  async (call: TypedCall) => {
    const outcome = await call("memory_context", { trigger_prompt: "tea" });
    // @ts-expect-error: an answer only after it was asked whether there is one.
    outcome.answer;
    // @ts-expect-error: a field that this tool's answer does not have.
    if (outcome.ok) outcome.answer.results;
  },
  // @ts-expect-error: a misspelt argument in a row of a batch.
  (call: TypedCall) => call("memory_ingest_batch", { episodes: [{ content: "tea", speakr: "Ada" }] }),
  // @ts-expect-error: the published library has the same types.
  (memory: OpenedMemory) => memory.call("memory_search", { query: "tea", limits: 5 }),
];

test("a tool's name decides what it takes and what it answers", async () => {
  expect(wrong).toHaveLength(7);
  const call = typedCall(async ({ tool, input, session }) => ({ ok: true, answer: { tool, input, session } }));
  const context = await call("memory_context", { trigger_prompt: "tea" }, { session: "s1" });
  expect(context).toEqual({
    ok: true,
    answer: { tool: "memory_context", input: { trigger_prompt: "tea" }, session: "s1" },
  });
  if (context.ok) expectTypeOf(context.answer.text).toEqualTypeOf<string>();

  expectTypeOf<ToolInput<"memory_search">["mode"]>().toEqualTypeOf<"hybrid" | "semantic" | "keyword" | undefined>();
  expectTypeOf<ToolAnswer<"memory_stats">["episodes"]["total"]>().toEqualTypeOf<number>();
  expectTypeOf<ReturnType<OpenedMemory["call"]>>().resolves.toHaveProperty("ok");
});

test("a name that only the running program knows takes anything", async () => {
  const names = tools.map(({ name }) => name);
  expectTypeOf<ToolInput<string>>().toBeUnknown();
  expectTypeOf<ToolAnswer<string>>().toEqualTypeOf<Record<string, unknown>>();
  expectTypeOf<"memory_context">().toExtend<ToolName>();
  const call = typedCall(async ({ tool }) => ({ ok: true, answer: { tool } }));
  for (const name of names) expect(await call(name, 5)).toEqual({ ok: true, answer: { tool: name } });
});
