/** The report of `butler bench pages`. */
import { most, type Report, row, type Spread, type Verdict, verdictLine } from "../figures.ts";
import type { PagesHeld } from "../sql/pages.ts";

export interface PagesReport {
  readonly store: Report["store"];
  readonly machine: Report["machine"];
  readonly model: string;
  readonly holds: PagesHeld;
  readonly calls: number;
  /** Null when the store was filled before. */
  readonly filled_seconds: number | null;
  /** The owner keeps what it has read then. Null when nothing was asked of the past. */
  readonly first_past_seconds: number | null;
  readonly routes: Readonly<Record<string, RouteTime>>;
  /** The routes, as the API names them. */
  readonly asked: readonly string[];
  readonly targets: readonly Verdict[];
}

interface RouteTime extends Spread {
  /** CPU time of all threads of this process, per call: with the embedded store that is all there is. */
  readonly cpu_ms: number;
  readonly bytes: number;
}

/** Milliseconds, at the 95th percentile. */
const TARGET = 100;

export const pagesVerdicts = ({ routes }: Pick<PagesReport, "routes">): Verdict[] =>
  Object.entries(routes).map(([name, { p95 }]) => most(`${name}, p95`, "ms", p95, TARGET));

export function pagesLines(report: PagesReport): string[] {
  const { holds, machine, routes, targets } = report;
  const count = (value: number) => value.toLocaleString("en");
  const missed = targets.filter(({ met }) => met !== true);
  return [
    `${count(holds.facts)} facts, ${count(holds.rules)} rules, ${count(holds.episodes)} episodes, ${count(holds.events)} events; ${report.store}, ${report.model}, ${report.calls} calls each`,
    `${machine.cores} × ${machine.cpu}, Node ${machine.node}, load ${machine.load} at the start`,
    "Rows and events were written by SQL; vectors are mixtures, as with bench scale.",
    report.filled_seconds === null ? "The store was filled before." : `Filled in ${report.filled_seconds} s.`,
    ...(report.first_past_seconds === null
      ? []
      : [`The first search of a past day, which reads the stream: ${report.first_past_seconds} s.`]),
    "",
    row(["route, ms", "p50", "p95", "max", "CPU", "KB"]),
    ...Object.entries(routes).map(([name, t]) =>
      row([name, t.p50, t.p95, t.max, t.cpu_ms, Math.round(t.bytes / 1024)]),
    ),
    "",
    missed.length === 0
      ? `✓ all ${targets.length} within ${TARGET} ms`
      : `✗ ${missed.length} of ${targets.length} miss their target:`,
    ...missed.map(verdictLine),
  ];
}
