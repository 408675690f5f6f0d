/** Which slots of a butler's schedule want a run now: arithmetic on given times. */
import type { Job } from "../../engine/memory/keep/job.ts";
import type { Slot } from "../../engine/memory/keep/run-job.ts";
import type { ButlerConfig } from "../config/config.ts";
import { latestSlot, slotsBetween, type Zone } from "./cron.ts";
import type { Known } from "./notes.ts";

/** Later than this a run counts as missed: the timer comes every minute. */
const ON_TIME_MS = 120_000;
/** A store that cannot be opened, or that only another daemon can have created meanwhile, is not tried every minute. */
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

/** For each job at most one run: the latest slot that has none, which stands for those before it too. */
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

/** A store may ask again and again while what it asks for cannot be had. */
export const notBeforeLast = (at: Date, last: Date | undefined): Date =>
  new Date(Math.max(at.getTime(), last === undefined ? 0 : last.getTime() + LATER_MS));

/** Jobs that the store itself asks for, and from when on. */
export interface Wanted {
  readonly wanted: Readonly<Record<string, Date>>;
}

/** What the store asks for by itself, of the jobs that are on its plan. */
function wantedSlots(plan: readonly Planned[], { wanted, last }: Known & Wanted, now: Date): Slot[] {
  return Object.entries(wanted).flatMap(([job, at]) => {
    if (!plan.some((planned) => planned.job === job) || notBeforeLast(at, last[job]) > now) return [];
    return [{ job, slot: now, trigger: "backlog", missed: 0 }];
  });
}

/** What is to be run in this visit: what is due by the schedule, and beside it what the store asks for. */
export function slotsToRun(plan: readonly Planned[], known: Known & Wanted, now: Date, zone?: Zone): Slot[] {
  const due = dueSlots(plan, known, now, zone);
  const wanted = wantedSlots(plan, known, now).filter((slot) => !due.some(({ job }) => job === slot.job));
  return [...due, ...wanted];
}

export const anyDue = (plan: readonly Planned[], known: Known, now: Date, zone?: Zone): boolean =>
  plan.some(({ job, cron }) => latestSlot(cron, known.last[job] ?? known.since, now, zone) !== undefined);
