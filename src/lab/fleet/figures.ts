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
  /** Texts whose vectors were known already, because all users share one bank of sentences: the model would have had to read them. */
  readonly known_texts: number;
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

/**
 * By the user-days that were lived, times the days: of somebody who has sessions on each of them. It is an estimate where only a sample went
 * on after the first day: what the others stored on it, and what of that has expired since, counts in proportion.
 */
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
    /** Milliseconds of a worker that learns, for each day that a user lived; the model's for known texts are among them. */
    readonly learning_ms_a_day: number;
    /** Of somebody who has sessions on each of the days. */
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

/** So many users with sessions on each of the days, in proportion to the user-days that were lived; nothing of it was measured. */
interface Extrapolated {
  readonly users: number;
  readonly cores: number;
  readonly gigabytes: number;
  /** The last night's, over all that was stored by then. */
  readonly sweep_minutes: number;
  /** The last day's. */
  readonly consolidation_hours_a_day: number;
  /** How many workers are busy with learning all the time; more than one is more than there is. */
  readonly learning_workers: number;
}

const FLEET = 10_000;
const DAY_SECONDS = 86_400;
/** What the specification asks for. */
const SLO = { sweep_minutes: 30 } as const;
const LEARNING = "consolidate";

type Lived = readonly Pick<Day, "users">[];

/** Days that users had sessions on, of all users together. */
const userDays = (days: Lived): number =>
  Math.max(
    1,
    days.reduce((all, { users }) => all + users, 0),
  );

const secondsOf = (day: Day | undefined, job: string) =>
  (day?.jobs ?? []).filter((one) => one.job === job).reduce((all, { seconds }) => all + seconds, 0);

const learningMs = (day: Day | undefined, { cpu_ms_each }: Texts) =>
  (day?.jobs ?? [])
    .filter(({ job }) => job === LEARNING)
    .reduce((all, { seconds, known_texts }) => all + 1_000 * seconds + known_texts * cpu_ms_each, 0);

export function growthOf(before: readonly TableSize[], after: readonly TableSize[], days: Lived): TableGrowth[] {
  const share = days.length / userDays(days);
  const start = new Map(before.map((size) => [size.table, size]));
  return after.map(({ table, rows, bytes }) => {
    const more = { rows: rows - (start.get(table)?.rows ?? 0), bytes: bytes - (start.get(table)?.bytes ?? 0) };
    return {
      table,
      rows,
      bytes,
      rows_per_user: round(more.rows * share, 2),
      bytes_per_user: round(more.bytes * share, 0),
    };
  });
}

export function perUserOf(days: readonly Day[], tables: readonly TableGrowth[], texts: Texts): FleetReport["per_user"] {
  const work = days.flatMap(({ calls, jobs }) => [calls, ...jobs]).reduce(sum, NO_WORK);
  const lived = userDays(days);
  const learning = days.reduce((all, day) => all + learningMs(day, texts), 0);
  const total = (of: (table: TableGrowth) => number) => tables.reduce((all, table) => all + of(table), 0);
  const [before, last] = [days.at(-2), days.at(-1)];
  return {
    cpu_seconds_a_day: round((work.cpu_seconds + (texts.known * texts.cpu_ms_each) / 1_000) / lived, 3),
    server_cpu_seconds_a_day: work.server_cpu_seconds === null ? null : round(work.server_cpu_seconds / lived, 3),
    statements_a_day: round(work.statements / lived),
    learning_ms_a_day: round(learning / lived),
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
  texts,
}: Pick<FleetReport, "per_user" | "by_day" | "texts">): Extrapolated {
  const last = by_day.at(-1);
  // A sweep reads what all users have stored until then, learning what those have said who had sessions on the day.
  const stored = (FLEET * by_day.length) / userDays(by_day);
  const said = FLEET / Math.max(1, last?.users ?? 0);
  return {
    users: FLEET,
    cores: round(((per_user.cpu_seconds_a_day + (per_user.server_cpu_seconds_a_day ?? 0)) * FLEET) / DAY_SECONDS, 2),
    gigabytes: round((per_user.bytes * FLEET) / 1e9),
    sweep_minutes: round((secondsOf(last, "decay_sweep") * stored) / 60, 2),
    consolidation_hours_a_day: round((learningMs(last, texts) * said) / 3_600_000, 2),
    learning_workers: round((per_user.learning_ms_a_day * FLEET) / (1_000 * DAY_SECONDS), 2),
  };
}

export function fleetVerdicts({ by_day, fleet }: Pick<FleetReport, "by_day" | "fleet">): Verdict[] {
  const sweep = Math.max(0, ...by_day.map((day) => secondsOf(day, "decay_sweep"))) / 60;
  return [
    most("left after the last consolidation", "", by_day.at(-1)?.left ?? null, 0),
    most("decay sweep in minutes", "", round(sweep, 3), SLO.sweep_minutes),
    most("extrapolated: sweep in minutes", "", fleet.sweep_minutes, SLO.sweep_minutes),
    most("extrapolated: learning, hours a day", "", fleet.consolidation_hours_a_day, 24),
    most("extrapolated: workers that learn", "", fleet.learning_workers, 1),
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
  const days_lived = userDays(by_day);
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
    "The age of what waits is that of the schedule, for information: the clock stands still while learning runs.",
    row(["jobs, s by day", ...by_day.map(({ day }) => day)]),
    ...jobs.map((job) => row([job, ...by_day.map((day) => round(secondsOf(day, job), 2))])),
    "",
    row(["work", "CPU s", "server's", "statements", "a user", "ms a user"]),
    ...by_day.flatMap((day) => workLines(users, day)),
    "",
    `Growth by user is what was added, by the ${days_lived} user-days that were lived, times ${days} days${days_lived < users * days ? ": an estimate, because not all users went on" : ""}.`,
    row(["tables at the end", "rows", "KB", "rows/user", "B/user"]),
    ...tables
      .filter(({ rows_per_user, bytes_per_user }) => rows_per_user !== 0 || bytes_per_user !== 0)
      .map(({ table, rows, bytes, rows_per_user, bytes_per_user }) =>
        row([table, rows, round(bytes / 1e3, 0), rows_per_user, bytes_per_user]),
      ),
    "",
    `${texts.asked} texts were embedded, at ${texts.cpu_ms_each} ms of CPU each; ${texts.known} more were known already, because all share one bank of sentences, and are added at that price below`,
    `a user: ${per_user.cpu_seconds_a_day} CPU seconds a day${server === null ? "" : ` and ${server} of the server`}, ${per_user.statements_a_day} statements, ${per_user.learning_ms_a_day} ms of learning; ${per_user.rows} rows and ${per_user.bytes} bytes in ${days} days with sessions, ${per_user.bytes_last_day} bytes on the last one`,
    `extrapolated in proportion, not measured${days_lived >= FLEET * days ? " (but for the jobs of this many users)" : ""}: ${fleet.users.toLocaleString("en")} users need ${fleet.cores} cores, ${fleet.gigabytes} GB, a sweep of ${fleet.sweep_minutes} minutes and ${fleet.consolidation_hours_a_day} hours of learning a day on one such worker (by the last day; ${fleet.learning_workers} workers by all days), after ${days} days with sessions each`,
    "",
    ...report.targets.map(verdictLine),
  ];
}
