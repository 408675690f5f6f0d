/** What many people cost: calls, jobs, backlog, growth of every table; and, said to be so, what ten thousand would. */
import { most, type Report, round, row, type Spread, type Verdict, verdictLine } from "../figures.ts";
import type { Backlog, TableSize } from "../sql/tables.ts";

/** What something took. */
export interface Work {
  /** Of this process and the model in it. */
  readonly cpu_seconds: number;
  /** Of all processes of a server; null where there is none, or it runs elsewhere. */
  readonly server_cpu_seconds: number | null;
  readonly statements: number;
}

export const NO_WORK: Work = { cpu_seconds: 0, server_cpu_seconds: null, statements: 0 };

export const sum = (a: Work, b: Work): Work => ({
  cpu_seconds: round(a.cpu_seconds + b.cpu_seconds, 3),
  server_cpu_seconds:
    a.server_cpu_seconds === null && b.server_cpu_seconds === null
      ? null
      : round((a.server_cpu_seconds ?? 0) + (b.server_cpu_seconds ?? 0), 3),
  statements: a.statements + b.statements,
});

export interface JobTime extends Work {
  readonly job: string;
  readonly seconds: number;
  readonly changed: number;
}

export interface Day {
  readonly day: number;
  /** Who had sessions; the jobs are for all. */
  readonly users: number;
  /** The greatest before a consolidation of this day. */
  readonly backlog: Backlog;
  /** After the last one. */
  readonly left: number;
  readonly jobs: readonly JobTime[];
  readonly calls: Work;
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
  readonly sample: number;
  readonly store: Report["store"];
  readonly machine: Report["machine"];
  readonly calls: Readonly<Record<string, Spread>>;
  readonly errors: Readonly<Record<string, number>>;
  readonly by_day: readonly Day[];
  readonly tables: readonly TableGrowth[];
  /** Sentences are from a bank that all share, and each goes through the model once. */
  readonly texts: Texts;
  readonly per_user: {
    /** Of those who had sessions, a day: this process, with the texts that it would have embedded for everybody alone. */
    readonly cpu_seconds_a_day: number;
    readonly server_cpu_seconds_a_day: number | null;
    readonly statements_a_day: number;
    readonly rows: number;
    readonly bytes: number;
    /** What the last day added. */
    readonly bytes_last_day: number;
  };
  readonly fleet: Extrapolated;
  readonly targets: readonly Verdict[];
}

export interface Texts {
  /** Already embedded, and not embedded again. */
  readonly known: number;
  readonly asked: number;
  readonly cpu_ms_each: number;
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
  (day?.jobs ?? []).filter((one) => one.job === job).reduce((all, { seconds }) => all + seconds, 0);

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

export function perUserOf(days: readonly Day[], tables: readonly TableGrowth[], texts: Texts): FleetReport["per_user"] {
  const work = days.flatMap(({ calls, jobs }) => [calls, ...jobs]).reduce(sum, NO_WORK);
  const lived = Math.max(
    1,
    days.reduce((all, day) => all + day.users, 0),
  );
  const total = (of: (table: TableGrowth) => number) => tables.reduce((all, table) => all + of(table), 0);
  const [before, last] = [days.at(-2), days.at(-1)];
  return {
    cpu_seconds_a_day: round((work.cpu_seconds + (texts.known * texts.cpu_ms_each) / 1_000) / lived, 3),
    server_cpu_seconds_a_day: work.server_cpu_seconds === null ? null : round(work.server_cpu_seconds / lived, 3),
    statements_a_day: round(work.statements / lived),
    rows: round(total((table) => table.rows_per_user)),
    bytes: round(
      total((table) => table.bytes_per_user),
      0,
    ),
    bytes_last_day: before && last ? round((last.bytes - before.bytes) / last.users, 0) : 0,
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
    cores: round(((per_user.cpu_seconds_a_day + (per_user.server_cpu_seconds_a_day ?? 0)) * FLEET) / DAY_SECONDS, 2),
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

const inWords = (seconds: number | null) => (seconds === null ? "" : round(seconds, 2));

/** CPU and statements for each user; the jobs of a day together. */
function workLines(users: number, { day, users: lived, calls, jobs }: Day): string[] {
  const line = (name: string, { cpu_seconds, server_cpu_seconds, statements }: Work, of: number) =>
    row([
      name,
      inWords(cpu_seconds),
      inWords(server_cpu_seconds),
      statements,
      round(statements / of, 2),
      round((1_000 * (cpu_seconds + (server_cpu_seconds ?? 0))) / of, 2),
    ]);
  const names = [...new Set(jobs.map(({ job }) => job))];
  return [
    line(`day ${day}, calls of ${lived}`, calls, lived),
    ...names.map((name) => line(name, jobs.filter(({ job }) => job === name).reduce(sum, NO_WORK), users)),
  ];
}

export function fleetLines(report: FleetReport): string[] {
  const { users, days, sessions, sample, store, machine, calls, errors, by_day, tables, texts } = report;
  const { per_user, fleet } = report;
  const jobs = [...new Set(by_day.flatMap((day) => day.jobs.map(({ job }) => job)))];
  const server = per_user.server_cpu_seconds_a_day;
  return [
    `${users} users for ${days} days in compressed time, ${sessions} sessions a day each${sample < users && days > 1 ? `, after the first day of ${sample} users` : ""}, ${store}`,
    `${machine.cores} × ${machine.cpu}, Node ${machine.node}, load ${machine.load} at the start`,
    "",
    row(["calls, ms", "count", "p50", "p95", "max"]),
    ...Object.entries(calls).map(([tool, { count, p50, p95, max }]) => row([tool, count, p50, p95, max])),
    ...Object.entries(errors).map(([failed, count]) => `${count} failed: ${failed}`),
    "",
    row(["by day", "users", "waiting", "age, h", "left", "rows", "MB"]),
    ...by_day.map(({ day, users: lived, backlog, left, rows, bytes }) =>
      row([day, lived, backlog.waiting, round(backlog.age_hours), left, rows, round(bytes / 1e6)]),
    ),
    row(["jobs, s by day", ...by_day.map(({ day }) => day)]),
    ...jobs.map((job) => row([job, ...by_day.map((day) => round(secondsOf(day, job), 2))])),
    "",
    row(["work", "CPU s", "server's", "statements", "a user", "ms a user"]),
    ...by_day.flatMap((day) => workLines(users, day)),
    "",
    row(["tables at the end", "rows", "KB", "rows/user", "B/user"]),
    ...tables
      .filter(({ rows_per_user, bytes_per_user }) => rows_per_user !== 0 || bytes_per_user !== 0)
      .map(({ table, rows, bytes, rows_per_user, bytes_per_user }) =>
        row([table, rows, round(bytes / 1e3, 0), rows_per_user, bytes_per_user]),
      ),
    "",
    `${texts.asked} texts were embedded, at ${texts.cpu_ms_each} ms of CPU each; ${texts.known} more were known already, because all share one bank of sentences, and are added at that price below`,
    `a user: ${per_user.cpu_seconds_a_day} CPU seconds a day${server === null ? "" : ` and ${server} of the server`}, ${per_user.statements_a_day} statements; ${per_user.rows} rows, ${per_user.bytes} bytes in all, ${per_user.bytes_last_day} on the last day`,
    `extrapolated in proportion, not measured${users >= FLEET ? " (but for the jobs of this many users)" : ""}: ${fleet.users.toLocaleString("en")} users need ${fleet.cores} cores, ${fleet.gigabytes} GB, a sweep of ${fleet.sweep_minutes} minutes and ${fleet.consolidation_hours_a_day} hours of learning a day on one such worker`,
    "",
    ...report.targets.map(verdictLine),
  ];
}
