/** The figures of a fleet: growth, cost a user, and what is extrapolated. */
import { expect, test } from "vitest";
import { type Day, extrapolated, fleetVerdicts, growthOf, perUserOf } from "../../src/lab/fleet/figures.ts";

const day = (number: number, bytes: number): Day => ({
  day: number,
  backlog: { waiting: 5, age_hours: 6 },
  left: 0,
  jobs: [
    { job: "consolidate", seconds: 2, changed: 1 },
    { job: "consolidate", seconds: 1, changed: 1 },
    { job: "decay_sweep", seconds: 0.6, changed: 1 },
  ],
  call_cpu_seconds: 3,
  job_cpu_seconds: 1,
  rows: 100,
  bytes,
});

test("growth is shared out among the users, and ten thousand are in proportion to them", () => {
  const tables = growthOf(
    [{ table: "episodes", rows: 10, bytes: 1_000 }],
    [
      { table: "episodes", rows: 110, bytes: 9_000 },
      { table: "facts", rows: 5, bytes: 2_000 },
    ],
    10,
  );
  expect(tables).toEqual([
    { table: "episodes", rows: 110, bytes: 9_000, rows_per_user: 10, bytes_per_user: 800 },
    { table: "facts", rows: 5, bytes: 2_000, rows_per_user: 0.5, bytes_per_user: 200 },
  ]);
  const by_day = [day(0, 5_000), day(1, 11_000)];
  const per_user = perUserOf(by_day, tables, 10);
  expect(per_user).toEqual({ cpu_seconds_a_day: 0.4, rows: 10.5, bytes: 1_000, bytes_last_day: 600 });
  const fleet = extrapolated({ per_user, by_day, users: 10 });
  expect(fleet).toEqual({
    users: 10_000,
    cores: 0.05,
    gigabytes: 0,
    sweep_minutes: 10,
    consolidation_hours_a_day: 0.83,
  });
  expect(fleetVerdicts({ by_day, fleet }).map(({ met }) => met)).toEqual([true, true, true, true, true]);
});
