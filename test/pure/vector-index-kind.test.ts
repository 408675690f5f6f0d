/** Which vector index a store of a size gets. */
import { expect, it } from "vitest";
import { mustRebuild, wantedIndex } from "../../src/engine/domain/ranking/index-kind.ts";

it("an embedded store that is searched from memory keeps none, and drops one that it has", () => {
  expect([1_000, 34_000, 99_999, 100_000, 200_000].map((rows) => wantedIndex("pglite", rows))).toEqual([
    ...["none", "none", "none", "ivfflat", "hnsw"],
  ]);
  expect(mustRebuild("none", { kind: "ivfflat", rows: 34_000, builtAt: 10_000 })).toBe(true);
});

it("a server, which answers while it builds, has one from a few thousand on", () => {
  expect([4_999, 5_000, 50_000].map((rows) => wantedIndex("postgres", rows))).toEqual(["none", "ivfflat", "hnsw"]);
  expect(mustRebuild("ivfflat", { kind: "ivfflat", rows: 20_000, builtAt: 5_000 })).toBe(false);
  expect(mustRebuild("ivfflat", { kind: "ivfflat", rows: 20_001, builtAt: 5_000 })).toBe(true);
});
