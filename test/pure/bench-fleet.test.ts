/** The figures of a fleet: growth, cost a user, and what is extrapolated. */
import { expect, test } from "vitest";
import {
  type Day,
  extrapolated,
  fleetLines,
  fleetVerdicts,
  growthOf,
  NO_WORK,
  perUserOf,
} from "../../src/lab/fleet/figures.ts";

const work = (cpu_seconds: number) => ({ cpu_seconds, server_cpu_seconds: 1, statements: 50 });

const day = (number: number, bytes: number, users = 10): Day => ({
  day: number,
  users,
  backlog: { waiting: 5, age_hours: 6 },
  left: 0,
  jobs: [
    { job: "consolidate", seconds: 2, changed: 1, known_texts: 60, ...work(0.5) },
    { job: "consolidate", seconds: 1, changed: 1, known_texts: 20, ...work(0.3) },
    { job: "decay_sweep", seconds: 0.6, changed: 1, known_texts: 9, ...work(0.2) },
  ],
  calls: work(3),
  rows: 100,
  bytes,
});

const texts = { known: 400, asked: 7, cpu_ms_each: 5 };

test("growth is shared out among the users, and ten thousand are in proportion to them", () => {
  const by_day = [day(0, 5_000), day(1, 11_000)];
  const tables = growthOf(
    [{ table: "episodes", rows: 10, bytes: 1_000 }],
    [
      { table: "episodes", rows: 110, bytes: 9_000 },
      { table: "facts", rows: 5, bytes: 2_000 },
    ],
    by_day,
  );
  expect(tables).toEqual([
    { table: "episodes", rows: 110, bytes: 9_000, rows_per_user: 10, bytes_per_user: 800 },
    { table: "facts", rows: 5, bytes: 2_000, rows_per_user: 0.5, bytes_per_user: 200 },
  ]);
  const per_user = perUserOf(by_day, tables, texts);
  // Two seconds of CPU more for the texts that the model would have had to read for each user, and 400 ms a day of learning.
  expect(per_user).toEqual({
    cpu_seconds_a_day: 0.5,
    server_cpu_seconds_a_day: 0.4,
    statements_a_day: 20,
    learning_ms_a_day: 340,
    rows: 10.5,
    bytes: 1_000,
    bytes_last_day: 600,
  });
  const fleet = extrapolated({ per_user, by_day, texts });
  expect(fleet).toEqual({
    users: 10_000,
    cores: 0.1,
    gigabytes: 0,
    sweep_minutes: 10,
    consolidation_hours_a_day: 0.94,
    learning_workers: 0.04,
  });
  expect(fleetVerdicts({ by_day, fleet }).map(({ met }) => met)).toEqual([true, true, true, true, true]);
});

test("a sample that goes on alone has the figures of a run in which all do", () => {
  /** Each user adds 10 rows and 800 bytes, and takes 4 s of learning, on each day with sessions; a sweep takes 1 ms for each such day until then. */
  const run = (users: number, sample: number, days: number) => {
    const lived = Array.from({ length: days }, (_, index) => (index === 0 ? users : sample));
    const until = (index: number) => lived.slice(0, index + 1).reduce((all, some) => all + some, 0);
    const by_day = lived.map((some, index): Day => {
      const job = (name: string, seconds: number) => ({ job: name, seconds, changed: 0, known_texts: 0, ...NO_WORK });
      const jobs = [job("consolidate", 4 * some), job("decay_sweep", 0.001 * until(index))];
      return { ...day(index, 800 * until(index), some), jobs };
    });
    const all = until(days - 1);
    const tables = growthOf([], [{ table: "episodes", rows: 10 * all, bytes: 800 * all }], by_day);
    const per_user = perUserOf(by_day, tables, texts);
    const { gigabytes, sweep_minutes, consolidation_hours_a_day, learning_workers } = extrapolated({
      ...{ per_user, by_day, texts },
    });
    const { rows, bytes, bytes_last_day } = per_user;
    return { rows, bytes, bytes_last_day, gigabytes, sweep_minutes, consolidation_hours_a_day, learning_workers };
  };
  expect(run(1_000, 50, 30)).toEqual(run(1_000, 1_000, 30));
  expect(run(1_000, 50, 30)).toMatchObject({ rows: 300, bytes: 24_000, sweep_minutes: 5, learning_workers: 0.46 });
});

test("learning that one worker cannot do, and a sweep that takes too long, miss their targets", () => {
  const slow: Day = {
    ...day(0, 5_000),
    jobs: [
      { job: "consolidate", seconds: 90, changed: 1, known_texts: 0, ...NO_WORK },
      { job: "decay_sweep", seconds: 2, changed: 1, known_texts: 0, ...NO_WORK },
    ],
  };
  const by_day = [slow];
  const per_user = perUserOf(by_day, growthOf([], [], by_day), texts);
  const fleet = extrapolated({ per_user, by_day, texts });
  expect([per_user.learning_ms_a_day, fleet.learning_workers, fleet.sweep_minutes]).toEqual([9_000, 1.04, 33.33]);
  const missed = fleetVerdicts({ by_day, fleet }).filter(({ met }) => met === false);
  expect(missed.map(({ name }) => name)).toEqual([
    "extrapolated: sweep in minutes",
    "extrapolated: learning, hours a day",
    "extrapolated: workers that learn",
  ]);
});

test("what is told says how growth by user was found, and that the age of the backlog is no finding", () => {
  const by_day = [day(0, 5_000), day(1, 11_000, 2)];
  const tables = growthOf([], [{ table: "episodes", rows: 24, bytes: 1_200 }], by_day);
  const per_user = perUserOf(by_day, tables, texts);
  const fleet = extrapolated({ per_user, by_day, texts });
  const machine = { cpu: "x", cores: 2, node: "22", load: 0 };
  const report = {
    users: 10,
    days: 2,
    sessions: 4,
    sample: 2,
    store: "pglite",
    machine,
    calls: {},
    errors: {},
  } as const;
  const said = fleetLines({ ...report, by_day, tables, texts, per_user, fleet, targets: [] }).join("\n");
  expect(said).toContain(
    "by the 12 user-days that were lived, times 2 days: an estimate, because not all users went on.",
  );
  expect(said).toContain("4 rows and 200 bytes in 2 days with sessions");
  expect(said).toContain("The age of what waits is that of the schedule");
});
