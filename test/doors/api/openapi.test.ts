/** The description of the API: whole, and true to the routes. */
import { describe, expect, it } from "vitest";
import { openApi } from "../../../src/doors/http/api/openapi.ts";
import { described } from "../../../src/doors/http/api/routes.ts";

// biome-ignore lint/suspicious/noExplicitAny: a JSON document is looked into by path.
const description = JSON.parse(JSON.stringify(openApi(described, "1.2.3"))) as any;

function refsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === "$ref" ? [String(inner)] : refsIn(inner)));
}

const at = (pointer: string): unknown =>
  pointer
    .slice(2)
    .split("/")
    .reduce((inner: unknown, key) => (inner as Record<string, unknown> | undefined)?.[key], description);

describe("the OpenAPI description", () => {
  it("names every route once, and each with its own name", () => {
    const named = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const known = described.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
    expect(named.toSorted()).toEqual(known.toSorted());
    expect(new Set(described.map(({ id }) => id)).size).toBe(described.length);
  });

  it("has no reference that leads nowhere", () => {
    const refs = refsIn(description);
    expect(refs.length).toBeGreaterThan(described.length);
    for (const ref of refs) expect(at(ref), ref).toBeDefined();
  });

  it("describes every parameter of a path, and no argument that a caller cannot give", () => {
    for (const [path, methods] of Object.entries(description.paths)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters } of Object.values(
        methods as Record<string, { parameters: { in: string; name: string }[] }>,
      )) {
        expect(parameters.filter((one) => one.in === "path").map(({ name }) => name)).toEqual(inPath);
        expect(parameters.map(({ name }) => name)).not.toContain("request_context");
      }
    }
  });
});
