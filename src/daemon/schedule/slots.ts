/** Which slots of a butler's schedule are due: arithmetic on given times. */
import type { Job } from "../../engine/memory/keep/job.ts";
import type { Slot } from "../../engine/memory/keep/run-job.ts";
import type { ButlerConfig } from "../config/config.ts";
import { latestSlot, slotsBetween, type Zone } from "./cron.ts";
import type { Known } from "./notes.ts";

/** A run that is later than this counts as missed: the scheduler looks every few seconds, and a machine may be busy. */
const ON_TIME_MS = 120_000;
/** A store that cannot be opened or does not exist is tried again after this long, not every minute. */
export const LATER_MS = 10 * 60_000;

export interface Planned {
  readonly job: string;
  readonly cron: string;
}

/** The jobs of a butler that run by themselves: its own schedule over the defaults. */
export function planOf(config: ButlerConfig, jobs: readonly Job[]): Planned[] {
  return jobs.flatMap(({ name, cron: preset }) => {
    const own = config.schedule[name];
    const cron = own?.cron ?? preset;
    return cron === undefined || own?.enabled === false ? [] : [{ job: name, cron }];
  });
}

/** For each job at most one run: that of the latest slot without one, which makes up for earlier slots too. */
function dueSlots(plan: readonly Planned[], known: Known, now: Date, zone?: Zone): Slot[] {
  return plan.flatMap(({ job, cron }) => {
    const since = known.last[job] ?? known.since;
    const slot = latestSlot(cron, since, now, zone);
    if (!slot) return [];
    const late = now.getTime() - slot.getTime() > ON_TIME_MS ? 1 : 0;
    const missed = slotsBetween(cron, since, slot, zone) + late;
    return [{ job, slot, trigger: missed > 0 ? "missed" : "schedule", missed }];
  });
}

/** Holds back a store that asks for a job again and again because the job cannot do what is asked. */
export const notBeforeLast = (at: Date, last: Date | undefined): Date =>
  new Date(Math.max(at.getTime(), last === undefined ? 0 : last.getTime() + LATER_MS));

/** Jobs that the store itself asks for, and from when on. */
export interface Wanted {
  readonly wanted: Readonly<Record<string, Date>>;
}

/** What the store itself asks for, of the jobs in its plan. */
function wantedSlots(plan: readonly Planned[], { wanted, last }: Known & Wanted, now: Date): Slot[] {
  return Object.entries(wanted).flatMap(([job, at]) => {
    if (!plan.some((planned) => planned.job === job) || notBeforeLast(at, last[job]) > now) return [];
    return [{ job, slot: now, trigger: "backlog", missed: 0 }];
  });
}

/** What this visit runs: jobs that are due by the schedule, and jobs that the store asks for. */
export function slotsToRun(plan: readonly Planned[], known: Known & Wanted, now: Date, zone?: Zone): Slot[] {
  const due = dueSlots(plan, known, now, zone);
  const wanted = wantedSlots(plan, known, now).filter((slot) => !due.some(({ job }) => job === slot.job));
  return [...due, ...wanted];
}

export const anyDue = (plan: readonly Planned[], known: Known, now: Date, zone?: Zone): boolean =>
  plan.some(({ job, cron }) => latestSlot(cron, known.last[job] ?? known.since, now, zone) !== undefined);

/** Seconds since the slot of each job that has no run yet; 0 for a job that is on time, or in `underWay`. */
export const lateBy = (
  plan: readonly Planned[],
  known: Known,
  now: Date,
  underWay: ReadonlySet<string> = new Set(),
  zone?: Zone,
): Record<string, number> =>
  Object.fromEntries(
    plan.map(({ job, cron }) => {
      const slot = underWay.has(job) ? undefined : latestSlot(cron, known.last[job] ?? known.since, now, zone);
      return [job, slot === undefined ? 0 : (now.getTime() - slot.getTime()) / 1_000];
    }),
  );
