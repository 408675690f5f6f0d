/** `butler bench load` as a person runs it, small. Needs `npm run build`. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LoadReport, loadLines } from "../../src/lab/load/figures.ts";
import { testModel } from "../support/model.ts";
import { butler, cleanUp, emptyHome } from "../support/owner-processes.ts";

beforeAll(() => testModel());
afterAll(cleanUp);

test("load makes every call, and its figures add up", async () => {
  const words = ["bench", "load", "--n", "100", "--seconds", "2", "--reads", "4", "--writes", "3", "--json"];
  const { code, stdout } = await butler(emptyHome(), words);
  expect(code).toBe(0);
  const report = JSON.parse(stdout) as LoadReport;
  expect(report).toMatchObject({
    n: 100,
    store: "pglite",
    seconds: 2,
    reads: 4,
    writes: 3,
    burst: 2,
    lost: 0,
    stored_unacknowledged: 0,
  });
  const { context, episode } = report.kinds;
  expect([context.sent, episode.sent]).toEqual([8, 6]);
  for (const kind of [context, episode]) {
    expect(kind).toMatchObject({ degraded: 0, answered: kind.sent, count: kind.sent, answered_share: 100, errors: {} });
    expect([kind.p50, kind.p95, kind.p99, kind.max].map((ms) => typeof ms)).toEqual(Array(4).fill("number"));
  }
  expect(report.after.episodes - report.before.episodes).toBe(6);
  expect(report.slices.map(({ unanswered }) => unanswered)).toEqual([0, 0, 0]);
  expect(report.most_open).toBeGreaterThan(0);
  expect(report.targets.map(({ name }) => name)).toContain("acknowledged but not stored");
  expect(loadLines(report).join("\n")).toContain("no errors");
});

test("load refuses what it cannot do, with words", async () => {
  const { code, stderr } = await butler(emptyHome(), ["bench", "load", "--burst", "11"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("at most it is 10")]);
});
