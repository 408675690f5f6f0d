/** Jobs and their runs as lines for a terminal. */
import type { JobReport } from "../../engine/memory/keep/job.ts";

export interface ShownRun {
  readonly job: string;
  readonly state: "running" | "done" | "failed" | "dead_letter";
  readonly report: JobReport | null;
  readonly error: string | null;
  readonly trigger?: string;
  readonly attempt?: number;
  readonly started_at?: string;
  readonly finished_at?: string | null;
  readonly dry_run?: boolean;
  readonly seconds?: number;
}

export interface ShownJob {
  readonly butler: string;
  readonly job: string;
  readonly about: string;
  readonly cron: string | null;
  readonly last: ShownRun | null;
  readonly next: string | null;
}

export function listTable(jobs: readonly ShownJob[]): string[] {
  const several = new Set(jobs.map(({ butler }) => butler)).size > 1;
  const rows = jobs.map(({ butler, job, about, cron, last, next }) => [
    ...(several ? [butler] : []),
    job,
    cron ?? "by hand",
    last ? `${minute(last.started_at)} ${stateWord(last)}` : "never",
    next === null ? "-" : minute(next),
    about,
  ]);
  return table([[...(several ? ["BUTLER"] : []), "JOB", "SCHEDULE", "LAST RUN", "NEXT RUN", ""], ...rows]);
}

export function historyTable(runs: readonly ShownRun[]): string[] {
  if (runs.length === 0) return ["No job has run yet."];
  const rows = runs.map((run) => [
    minute(run.started_at),
    run.job,
    run.trigger ?? "",
    run.attempt === undefined || run.attempt === 1 ? "" : `attempt ${run.attempt}`,
    stateWord(run),
    run.error ?? (run.report ? summary(run.report) : ""),
  ]);
  return table([["STARTED", "JOB", "WHY", "", "STATE", ""], ...rows]);
}

export function reportLines(run: ShownRun): string[] {
  const { job, state, report, error, dry_run, seconds } = run;
  const took = seconds === undefined ? "" : ` (${seconds} s)`;
  if (state !== "done") return [`${job} ${stateWord(run)}${took}: ${error ?? "no reason was given"}`];
  if (!report) return [`${job} is done${took}.`];
  const head = dry_run ? `${job} would change: ` : `${job}: `;
  return [
    `${head}${summary(report)}${took}`,
    ...report.notes.map((note) => `  ${note}`),
    ...(dry_run ? ["Nothing was changed (--dry-run)."] : []),
  ];
}

function summary({ changed, counts, complete }: JobReport): string {
  const parts = Object.entries(counts)
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${count} ${name.replaceAll("_", " ")}`);
  const words = parts.length > 0 ? parts.join(", ") : changed === 0 ? "nothing to do" : `${changed} changed`;
  return complete ? words : `${words}; not finished`;
}

const STATE_WORDS = { running: "running", done: "done", failed: "failed", dead_letter: "failed for good" } as const;

const stateWord = ({ state }: ShownRun) => STATE_WORDS[state];

/** To the minute and in this machine's zone, as in the schedules. */
function minute(time: string | undefined): string {
  if (time === undefined) return "";
  const at = new Date(time);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
