/** What every session pays for the list of tools, and what the makers of grammars refuse in a schema. */
import { describe, expect, it } from "vitest";
import { listedTools } from "../../src/doors/mcp/advertise.ts";
import { openTokenizer } from "../../src/engine/adapters/tokenizer/gpt.ts";
import { tools } from "../../src/engine/tools/index.ts";

/** Every keyword and its value, wherever it stands; names of properties are no keywords. */
function keywords(node: unknown): [string, unknown][] {
  if (Array.isArray(node)) return node.flatMap(keywords);
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === "properties"
      ? Object.values(value).flatMap(keywords)
      : [[key, value] as [string, unknown], ...keywords(value)],
  );
}

describe.each(["core", "full"] as const)("the %s set", (toolset) => {
  const listed = listedTools(tools, toolset);
  const all = keywords(listed.map(({ inputSchema, outputSchema }) => [inputSchema, outputSchema]));
  const valuesOf = (name: string) => all.flatMap(([key, value]) => (key === name ? [value] : []));

  it("has no names of properties, no large lengths and no look-around", () => {
    expect(all.length).toBeGreaterThan(100);
    expect(valuesOf("propertyNames")).toEqual([]);
    expect(valuesOf("maxLength").filter((length) => Number(length) >= 1_000)).toEqual([]);
    expect(valuesOf("pattern").filter((pattern) => String(pattern).includes("(?"))).toEqual([]);
  });
});

describe("the core set", () => {
  const listed = listedTools(tools, "core");

  it("costs a model at most 1,500 tokens", async () => {
    const shown = listed.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    }));
    const { count } = await openTokenizer("o200k_base");
    expect(count(JSON.stringify(shown))).toBeLessThanOrEqual(1_500);
  });

  it("accepts more than it shows", () => {
    const search = listed.find(({ name }) => name === "memory_search");
    const known = tools.find(({ name }) => name === "memory_search");
    expect(Object.keys(search?.inputSchema.properties ?? {})).not.toContain("rank");
    expect(known?.input.safeParse({ query: "tea", rank: "composite", mode: "keyword" }).success).toBe(true);
  });
});
