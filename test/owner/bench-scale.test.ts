/** `butler bench scale` from its words to its figures, small, with the real model. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { run } from "../../src/lab/bench.ts";
import type { ScaleReport } from "../../src/lab/scale/figures.ts";
import { readEnvironment } from "../../src/main/environment.ts";
import { TEST_MODEL_CACHE, testModel } from "../support/model.ts";

const folder = mkdtempSync(join(tmpdir(), "bs-"));
beforeAll(() => testModel());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function bench(args: readonly string[], variables: Record<string, string> = {}): Promise<string> {
  const said: string[] = [];
  const environment = readEnvironment({
    BUTLER_HOME: join(folder, "home"),
    BUTLER_MODEL_DIR: TEST_MODEL_CACHE,
    ...variables,
  });
  const code = await run(["scale", ...args], { environment, say: (line) => said.push(line), note: () => undefined });
  expect(code).toBe(0);
  return said.join("\n");
}

describe("butler bench scale", () => {
  test("measures every call, storage and recall, and says what is invented", async () => {
    const args = ["--n", "300", "--queries", "3", "--keep"];
    const report = JSON.parse(await bench([...args, "--json"])) as ScaleReport;
    expect(report).toMatchObject({ n: 300, store: "pglite", queries: 3, embedded: 60, index: "none" });
    expect(report.build?.seconds).toBeGreaterThan(0);
    expect(Object.keys(report.calls)).toEqual([
      ...["search hybrid", "search keyword", "search semantic", "context", "store episode"],
    ]);
    expect(report.calls["search hybrid"]?.steps).toMatchObject({
      embedding: expect.any(Number),
      JavaScript: expect.any(Number),
    });
    expect(report.at_once).toMatchObject({ searchers: 8, count: 3 });
    expect(Object.keys(report.row_security)).toEqual([
      ...["search hybrid", "search keyword", "search semantic", "context", "store episode", "store fact"],
    ]);
    // All vectors are compared in a store this small.
    expect(report.recall).toMatchObject({ at: 20, queries: 3, mean: 1, worst: 1 });
    const { total, ...parts } = report.storage ?? { total: 0 };
    expect(total).toBeGreaterThan(1536);
    expect(Object.values(parts).reduce((sum, bytes) => sum + bytes, 0)).toBeCloseTo(total, -1);
    expect(report.targets.map(({ name }) => name)).toEqual([
      "memory_search, reranked, p95",
      "vector arm, recall@20",
      "row security, share of a search",
      "row security, share of a write",
      "vectors and tokens a memory",
    ]);

    const again = await bench(args);
    expect(again).toContain("The store was built before.");
    expect(again).toContain("all other vectors are mixtures of theirs");
    await expect(bench(["--n", "900", "--queries", "1", "--keep", "now"])).rejects.toThrow("now");
  });

  test.skipIf(inject("postgresUrl") === undefined)(
    "mixes vectors on a server, and leaves no database behind",
    async () => {
      const BUTLER_DATABASE_URL = inject("postgresUrl") ?? "";
      const said = await bench(["--n", "400", "--queries", "2", "--store", "postgres"], { BUTLER_DATABASE_URL });
      expect(said).toContain("400 memories, postgres");
      expect(said).toContain("80 texts went through the model");
      expect(said).toMatch(/recall@20 1 over 2 queries/);
      const { openPostgres } = await import("../../src/engine/adapters/db/postgres.ts");
      const db = await openPostgres({ url: BUTLER_DATABASE_URL, max: 1 });
      const left = await db.query("select 1 from pg_database where datname = $1", [
        `butler_bench_scale_${process.pid}`,
      ]);
      await db.close();
      expect(left).toEqual([]);
    },
  );

  test("refuses what it cannot measure, with words", async () => {
    await expect(bench(["--n", "few"])).rejects.toThrow("whole number from 100 up");
    await expect(bench(["--n", "300"], { BUTLER_MODEL_DIR: "" })).rejects.toThrow("butler model pull");
    await expect(bench(["--store", "postgres"])).rejects.toThrow("BUTLER_DATABASE_URL");
    await expect(bench(["--data", "x"])).rejects.toThrow("--data");
  });
});
