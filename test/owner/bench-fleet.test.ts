/** `butler bench fleet` from its words to its figures, small, with the real model and the real jobs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../../src/lab/bench.ts";
import { type FleetReport, fleetLines } from "../../src/lab/fleet/figures.ts";
import { readEnvironment } from "../../src/main/environment.ts";
import { TEST_MODEL_CACHE, testModel } from "../support/model.ts";

const folder = mkdtempSync(join(tmpdir(), "bf-"));
beforeAll(() => testModel());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("fleet lives through its days, learns from all, and its figures add up", async () => {
  const said: string[] = [];
  const environment = readEnvironment({ BUTLER_HOME: join(folder, "home"), BUTLER_MODEL_DIR: TEST_MODEL_CACHE });
  const words = ["fleet", "--users", "2", "--days", "2", "--sessions", "4", "--json"];
  expect(await run(words, { environment, say: (line) => said.push(line), note: () => undefined })).toBe(0);
  const report = JSON.parse(said.join("\n")) as FleetReport;
  expect(report).toMatchObject({ users: 2, days: 2, sessions: 4, store: "pglite" });
  expect(report.errors).toEqual({});
  expect(report.calls.memory_context?.count).toBe(16);
  expect(report.calls.memory_store_episode?.count).toBe(16);
  for (const { backlog, left, jobs } of report.by_day) {
    expect(backlog.waiting).toBe(2);
    expect(backlog.age_hours).toBeLessThanOrEqual(6);
    expect(left).toBe(0);
    expect(jobs.map(({ job }) => job)).toEqual([
      ...["consolidate", "consolidate", "consolidate", "consolidate"],
      ...["promote", "decay_sweep", "episode_cleanup", "retention"],
    ]);
  }
  const episodes = report.tables.find(({ table }) => table === "episodes");
  expect(episodes).toMatchObject({ rows: 16, rows_per_user: 8 });
  expect(report.by_day.at(-1)?.rows).toBe(report.tables.reduce((sum, { rows }) => sum + rows, 0));
  expect(report.per_user.cpu_seconds_a_day).toBeGreaterThan(0);
  expect(fleetLines(report).join("\n")).toContain("extrapolated in proportion, not measured: 10,000 users");
});
