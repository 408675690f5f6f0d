/** `butler bench pages` from its words to its figures, small, with the real model. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { apiRoutes } from "../../src/doors/http/api/routes.ts";
import { run } from "../../src/lab/bench.ts";
import type { PagesReport } from "../../src/lab/pages/figures.ts";
import { readEnvironment } from "../../src/main/environment.ts";
import { TEST_MODEL_CACHE, testModel } from "../support/model.ts";

const folder = mkdtempSync(join(tmpdir(), "bp-"));
beforeAll(() => testModel());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function bench(args: readonly string[], variables: Record<string, string> = {}): Promise<string> {
  const said: string[] = [];
  const environment = readEnvironment({
    BUTLER_HOME: join(folder, "home"),
    BUTLER_MODEL_DIR: TEST_MODEL_CACHE,
    ...variables,
  });
  const code = await run(["pages", ...args], { environment, say: (line) => said.push(line), note: () => undefined });
  expect(code).toBe(0);
  return said.join("\n");
}

const SMALL = ["--facts", "400", "--events", "3000", "--calls", "1"];
/** Asked of the owner's scheduler, of what it has measured, or of files alone. */
const NOT_OF_MEMORIES = ["Settings", "Jobs", "Health", "Tokens"];

describe("butler bench pages", () => {
  test("asks every route that reads memories, on a store like one that years of use make", async () => {
    const keep = ["--keep", join(folder, "kept")];
    const report = JSON.parse(await bench([...SMALL, ...keep, "--json"])) as PagesReport;
    expect(report).toMatchObject({ store: "pglite", holds: { facts: 400, rules: 20, episodes: 200, events: 3_000 } });
    expect(report.filled_seconds).toBeGreaterThan(0);
    const below = "/api/butlers/:name/memory/";
    const reads = apiRoutes.filter(
      ({ id, method, path }) =>
        path.startsWith(below) && (method === "GET" || id === "Preview") && !NOT_OF_MEMORIES.includes(id),
    );
    const asked = new Set(report.asked);
    expect(reads.map(({ path }) => path.slice(below.length)).filter((path) => !asked.has(path))).toEqual([]);
    for (const [name, figure] of Object.entries(report.routes))
      expect([name, figure.count, figure.p95 >= figure.p50]).toEqual([name, expect.any(Number), true]);
    expect(report.targets).toHaveLength(Object.keys(report.routes).length);
    for (const name of ["facts superseded", "facts fading", "one run", "changes of a year", "episodes pending"])
      expect([name, (report.routes[name]?.bytes ?? 0) > 500]).toEqual([name, true]);

    const again = await bench([...SMALL, ...keep, "--only", "facts of"]);
    expect(again).toContain("The store was filled before.");
    expect(again).toContain("facts of a reader");
    expect(again).not.toContain("preview");
    await expect(bench(["--facts", "900", ...keep])).rejects.toThrow("choose an empty folder");
  });

  test.skipIf(inject("postgresUrl") === undefined)("fills a server too, and leaves no database behind", async () => {
    const BUTLER_DATABASE_URL = inject("postgresUrl") ?? "";
    const said = await bench([...SMALL, "--store", "postgres", "--only", "stats"], { BUTLER_DATABASE_URL });
    expect(said).toContain("400 facts, 20 rules, 200 episodes, 3,000 events; postgres");
    const { openPostgres } = await import("../../src/engine/adapters/db/postgres.ts");
    const db = await openPostgres({ url: BUTLER_DATABASE_URL, max: 1 });
    const left = await db.query("select 1 from pg_database where datname = 'butler_pages'");
    await db.close();
    expect(left).toEqual([]);
  });

  test("refuses what it cannot measure, with words", async () => {
    await expect(bench(["--facts", "few"])).rejects.toThrow("whole number from 10 up");
    await expect(bench(["--facts", "300"], { BUTLER_MODEL_DIR: "" })).rejects.toThrow("butler model pull");
    await expect(bench(["--store", "postgres"])).rejects.toThrow("BUTLER_DATABASE_URL");
  });
});
