/** What a model that remembers another tool is told: the argument or the tool that it probably means. */
import { describe, expect, it } from "vitest";
import { nearestTools, noSuchTool, toolNamed, tools } from "../../src/engine/tools/index.ts";
import { checkInput } from "../../src/engine/tools/invalid-input.ts";

function told(tool: string, input: unknown): string {
  const known = toolNamed(tool);
  if (known === undefined) throw new Error(`no tool ${tool}`);
  const checked = checkInput(known.input, input);
  return checked.ok ? "taken" : checked.error.message;
}

describe("a foreign argument", () => {
  it.each([
    ["memory_search", { qurey: "tea" }, "qurey", "query"],
    ["memory_search", { query: "tea", top_k: 5 }, "top_k", "limit"],
    ["memory_store_fact", { subject: "user", predicate: "likes", object: "tea" }, "object", "content"],
    ["memory_store_fact", { entity: "user", predicate: "likes", content: "tea" }, "entity", "subject"],
    ["memory_store_episode", { text: "tea" }, "text", "content"],
    ["memory_mark_helpful", { id: "0198c0de-1234-7abc-8def-0123456789ab" }, "id", "rule_id"],
    ["memory_context", { prompt: "tea" }, "prompt", "trigger_prompt"],
    ["memory_ingest_batch", { messages: [] }, "messages", "episodes"],
  ])("%s %j", (tool, input, name, meant) => {
    expect(told(tool, input)).toBe(`unknown argument "${name}"; did you mean "${meant}"?`);
  });

  it("is not taken for one that was given", () => {
    const input = { subject: "user", predicate: "likes", content: "tea", object: "tea" };
    expect(told("memory_store_fact", input)).toBe('unknown argument "object"; leave it out.');
  });
});

describe("a tool that is none", () => {
  it.each([
    ["memory_serch", ["memory_search"]],
    ["search_memory", ["memory_search"]],
    ["add_fact", ["memory_store_fact"]],
    ["forget", ["memory_forget"]],
    ["sing", []],
  ])("%s", (name, near) => {
    expect(nearestTools(name)).toEqual(near);
  });

  it("is told in a sentence, with all tools where none is near", () => {
    expect(noSuchTool("add_fact")).toBe('There is no tool "add_fact"; did you mean memory_store_fact?');
    expect(noSuchTool("sing")).toMatch(/^There is no tool "sing"; there are memory_context, .*memory_learning\.$/);
  });

  it("of our own names each is nearest to itself", () => {
    for (const { name } of tools) expect(nearestTools(name)).toEqual([name]);
  });
});
