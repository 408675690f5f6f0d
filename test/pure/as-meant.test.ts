/** What models write instead of a value, and what is made of it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asMeant } from "../../src/engine/tools/as-meant.ts";
import { toolNamed, tools } from "../../src/engine/tools/index.ts";
import { checkInput } from "../../src/engine/tools/invalid-input.ts";

function checked(tool: string, input: unknown) {
  const known = toolNamed(tool);
  if (known === undefined) throw new Error(`no tool ${tool}`);
  const result = checkInput(known.input, input);
  return result.ok ? result.value : result.error.message;
}

describe("is taken as meant", () => {
  it.each([
    ["memory_search", { query: "tea", limit: "5" }, { query: "tea", limit: 5 }],
    [
      "memory_search",
      { query: "tea", limit: null, scope: null, types: null, mode: null, as_of: null },
      { query: "tea" },
    ],
    ["memory_search", { query: "tea", types: '["fact","rule"]' }, { query: "tea", types: ["fact", "rule"] }],
    ["memory_search", { query: "tea", min_confidence: " 0.5 " }, { query: "tea", min_confidence: 0.5 }],
    ["memory_search", { query: "tea", explain: "true" }, { query: "tea", explain: true }],
    ["memory_store_episode", { content: "x", metadata: '{"a":[1]}' }, { content: "x", metadata: { a: [1] } }],
    ["memory_store_episode", { content: "x", request_context: null }, { content: "x" }],
  ])("%s %j", (tool, input, meant) => {
    const given = structuredClone(input);
    expect(checked(tool, input)).toEqual(checked(tool, meant));
    expect(checked(tool, meant)).toMatchObject(meant);
    expect(input).toEqual(given);
  });
});

describe("is refused as before", () => {
  it.each([
    ["memory_search", { query: null }, "query: is missing."],
    ["memory_search", { query: "tea", limit: "five" }, 'limit: must be a number, not "five".'],
    ["memory_search", { query: "tea", limit: "500" }, "limit: must be at most 200."],
    ["memory_search", { query: "tea", limit: "1e9" }, 'limit: must be a number, not "1e9".'],
    ["memory_search", { query: "tea", types: "fact" }, 'types: must be a list, not "fact".'],
    ["memory_search", { query: "tea", types: '{"a":1}' }, 'types: must be a list, not "{\\"a\\":1}".'],
    ["memory_store_episode", { content: "x", metadata: "{" }, 'metadata: must be an object, not "{".'],
    ["memory_search", { query: 5 }, "query: must be text, not 5."],
    ["memory_search", { query: "tea", limit: null, colour: null }, 'unknown argument "colour"; leave it out.'],
  ])("%s %j", (tool, input, message) => {
    expect(checked(tool, input)).toBe(message);
  });
});

it("a valid input of any tool is what it was, and any other never throws", () => {
  const value = fc.anything({ withNullPrototype: false });
  fc.assert(
    fc.property(
      fc.constantFrom(...tools),
      fc.dictionary(fc.constantFrom("query", "limit", "tags", "id", "content", "metadata"), value),
      (tool, input) => {
        const strict = tool.input.safeParse(input);
        const result = checkInput(tool.input, input);
        if (strict.success) expect(result).toEqual({ ok: true, value: strict.data });
        else asMeant(input, strict.error.issues);
      },
    ),
    { numRuns: 2_000 },
  );
});

it("ten thousand levels beside a null are read without a copy of them", () => {
  const deep = JSON.parse(`${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`);
  expect(checked("memory_store_episode", { content: "x", importance: null, metadata: deep })).toMatch(/^metadata: /);
});
