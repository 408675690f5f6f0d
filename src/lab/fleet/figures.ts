/** What many people cost: calls, jobs, backlog, growth of every table; and, said to be so, what ten thousand would. */
import { most, type Report, round, row, type Spread, type Verdict, verdictLine } from "../figures.ts";
import type { Backlog, TableSize } from "../sql/tables.ts";

export interface JobTime {
  readonly job: string;
  readonly seconds: number;
  readonly changed: number;
}

export interface Day {
  readonly day: number;
  /** The greatest before a consolidation of this day. */
  readonly backlog: Backlog;
  /** After the last one. */
  readonly left: number;
  readonly jobs: readonly JobTime[];
  readonly call_cpu_seconds: number;
  readonly job_cpu_seconds: number;
  readonly rows: number;
  readonly bytes: number;
}

export interface TableGrowth extends TableSize {
  readonly rows_per_user: number;
  readonly bytes_per_user: number;
}

export interface FleetReport {
  readonly users: number;
  readonly days: number;
  readonly sessions: number;
  readonly store: Report["store"];
  readonly machine: Report["machine"];
  readonly calls: Readonly<Record<string, Spread>>;
  readonly errors: Readonly<Record<string, number>>;
  readonly by_day: readonly Day[];
  readonly tables: readonly TableGrowth[];
  readonly per_user: {
    /** Of this process and the one with the model, a day; that of a server is not in it. */
    readonly cpu_seconds_a_day: number;
    readonly rows: number;
    readonly bytes: number;
    /** What the last day added. */
    readonly bytes_last_day: number;
  };
  readonly fleet: Extrapolated;
  readonly targets: readonly Verdict[];
}

/** Every figure grows in proportion to the users here; nothing of it was measured. */
interface Extrapolated {
  readonly users: number;
  readonly cores: number;
  readonly gigabytes: number;
  readonly sweep_minutes: number;
  readonly consolidation_hours_a_day: number;
}

const FLEET = 10_000;
const DAY_SECONDS = 86_400;
/** What the specification asks for. */
const SLO = { backlog_hours: 6, sweep_minutes: 30 } as const;

const secondsOf = (day: Day | undefined, job: string) =>
  (day?.jobs ?? []).filter((one) => one.job === job).reduce((sum, { seconds }) => sum + seconds, 0);

export function growthOf(before: readonly TableSize[], after: readonly TableSize[], users: number): TableGrowth[] {
  const start = new Map(before.map((size) => [size.table, size]));
  return after.map(({ table, rows, bytes }) => {
    const more = { rows: rows - (start.get(table)?.rows ?? 0), bytes: bytes - (start.get(table)?.bytes ?? 0) };
    return {
      table,
      rows,
      bytes,
      rows_per_user: round(more.rows / users, 2),
      bytes_per_user: round(more.bytes / users, 0),
    };
  });
}

export function perUserOf(
  days: readonly Day[],
  tables: readonly TableGrowth[],
  users: number,
): FleetReport["per_user"] {
  const cpu = days.reduce((sum, day) => sum + day.call_cpu_seconds + day.job_cpu_seconds, 0);
  const total = (of: (table: TableGrowth) => number) => tables.reduce((sum, table) => sum + of(table), 0);
  const [before, last] = [days.at(-2), days.at(-1)];
  return {
    cpu_seconds_a_day: round(cpu / users / Math.max(1, days.length), 3),
    rows: round(total((table) => table.rows_per_user)),
    bytes: round(
      total((table) => table.bytes_per_user),
      0,
    ),
    bytes_last_day: before && last ? round((last.bytes - before.bytes) / users, 0) : 0,
  };
}

export function extrapolated({
  per_user,
  by_day,
  users,
}: Pick<FleetReport, "per_user" | "by_day" | "users">): Extrapolated {
  const times = FLEET / users;
  const last = by_day.at(-1);
  return {
    users: FLEET,
    cores: round((per_user.cpu_seconds_a_day * FLEET) / DAY_SECONDS, 2),
    gigabytes: round((per_user.bytes * FLEET) / 1e9),
    sweep_minutes: round((secondsOf(last, "decay_sweep") * times) / 60, 2),
    consolidation_hours_a_day: round((secondsOf(last, "consolidate") * times) / 3_600, 2),
  };
}

export function fleetVerdicts({ by_day, fleet }: Pick<FleetReport, "by_day" | "fleet">): Verdict[] {
  const age = Math.max(0, ...by_day.map(({ backlog }) => backlog.age_hours));
  const sweep = Math.max(0, ...by_day.map((day) => secondsOf(day, "decay_sweep"))) / 60;
  return [
    most("age of the backlog in hours", "", round(age, 2), SLO.backlog_hours),
    most("left after the last consolidation", "", by_day.at(-1)?.left ?? null, 0),
    most("decay sweep in minutes", "", round(sweep, 3), SLO.sweep_minutes),
    most("extrapolated: sweep in minutes", "", fleet.sweep_minutes, SLO.sweep_minutes),
    most("extrapolated: learning, hours a day", "", fleet.consolidation_hours_a_day, 24),
  ];
}

export function fleetLines(report: FleetReport): string[] {
  const { users, days, sessions, store, machine, calls, errors, by_day, tables, per_user, fleet } = report;
  const jobs = [...new Set(by_day.flatMap((day) => day.jobs.map(({ job }) => job)))];
  return [
    `${users} users for ${days} days in compressed time, ${sessions} sessions a day each, ${store}`,
    `${machine.cores} × ${machine.cpu}, Node ${machine.node}, load ${machine.load} at the start`,
    "",
    row(["calls, ms", "count", "p50", "p95", "max"]),
    ...Object.entries(calls).map(([tool, { count, p50, p95, max }]) => row([tool, count, p50, p95, max])),
    ...Object.entries(errors).map(([failed, count]) => `${count} failed: ${failed}`),
    "",
    row(["by day", "waiting", "age, h", "left", "calls CPU", "jobs CPU", "rows", "MB"]),
    ...by_day.map(({ day, backlog, left, call_cpu_seconds, job_cpu_seconds, rows, bytes }) =>
      row([
        day,
        backlog.waiting,
        round(backlog.age_hours),
        left,
        call_cpu_seconds,
        job_cpu_seconds,
        rows,
        round(bytes / 1e6),
      ]),
    ),
    row(["jobs, s by day", ...by_day.map(({ day }) => day)]),
    ...jobs.map((job) => row([job, ...by_day.map((day) => round(secondsOf(day, job), 2))])),
    "",
    row(["tables at the end", "rows", "KB", "rows/user", "B/user"]),
    ...tables
      .filter(({ rows_per_user, bytes_per_user }) => rows_per_user !== 0 || bytes_per_user !== 0)
      .map(({ table, rows, bytes, rows_per_user, bytes_per_user }) =>
        row([table, rows, round(bytes / 1e3, 0), rows_per_user, bytes_per_user]),
      ),
    "",
    `a user: ${per_user.cpu_seconds_a_day} CPU seconds a day, ${per_user.rows} rows, ${per_user.bytes} bytes in all, ${per_user.bytes_last_day} on the last day`,
    `extrapolated in proportion, not measured: ${fleet.users.toLocaleString("en")} users need ${fleet.cores} cores, ${fleet.gigabytes} GB, a sweep of ${fleet.sweep_minutes} minutes and ${fleet.consolidation_hours_a_day} hours of learning a day on one such worker`,
    "",
    ...report.targets.map(verdictLine),
  ];
}
