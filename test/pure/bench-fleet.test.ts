/** The figures of a fleet: growth, cost a user, and what is extrapolated. */
import { expect, test } from "vitest";
import { type Day, extrapolated, fleetVerdicts, growthOf, perUserOf } from "../../src/lab/fleet/figures.ts";

const work = (cpu_seconds: number) => ({ cpu_seconds, server_cpu_seconds: 1, statements: 50 });

const day = (number: number, bytes: number): Day => ({
  day: number,
  users: 10,
  backlog: { waiting: 5, age_hours: 6 },
  left: 0,
  jobs: [
    { job: "consolidate", seconds: 2, changed: 1, ...work(0.5) },
    { job: "consolidate", seconds: 1, changed: 1, ...work(0.3) },
    { job: "decay_sweep", seconds: 0.6, changed: 1, ...work(0.2) },
  ],
  calls: work(3),
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
  const per_user = perUserOf(by_day, tables, { known: 400, asked: 7, cpu_ms_each: 5 });
  // Two seconds more for the texts that the model would have had to read for each user.
  expect(per_user).toEqual({
    cpu_seconds_a_day: 0.5,
    server_cpu_seconds_a_day: 0.4,
    statements_a_day: 20,
    rows: 10.5,
    bytes: 1_000,
    bytes_last_day: 600,
  });
  const fleet = extrapolated({ per_user, by_day, users: 10 });
  expect(fleet).toEqual({
    users: 10_000,
    cores: 0.1,
    gigabytes: 0,
    sweep_minutes: 10,
    consolidation_hours_a_day: 0.83,
  });
  expect(fleetVerdicts({ by_day, fleet }).map(({ met }) => met)).toEqual([true, true, true, true, true]);
});
