/**
 * Sees to it that jobs run when their schedule says so: at the owner's start, when a store is opened, and whenever a slot
 * comes. A slot that passed while nobody was here is run once, as `missed`, however many passed.
 */

import type { Clock } from "../../engine/adapters/clock.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import type { Engine, JobRuns } from "../../engine/engine.ts";
import type { Job } from "../../engine/memory/keep/job.ts";
import type { Slot } from "../../engine/memory/keep/run-job.ts";
import type { ButlerConfig } from "../config/config.ts";
import { keepers, type Roster } from "../roster/roster.ts";
import { latestSlot, nextSlot, slotsBetween, type Zone } from "./cron.ts";
import type { Known, ScheduleNotes } from "./notes.ts";

export interface SchedulerParts {
  readonly roster: Roster;
  readonly clock: Clock;
  readonly log: Log;
  /** All there are; a butler's own schedule says which of them run, and when. */
  readonly jobs: readonly Job[];
  readonly notes: ScheduleNotes;
  readonly zone?: Zone;
  /** Whether a butler has a store at all: one that was never used is not created for its jobs. */
  hasStore(butler: string): Promise<boolean>;
  /** Opens the store for `work` and, when nobody else uses it, closes it before this resolves. */
  visit<T>(butler: string, work: (engine: Pick<Engine, "runs">) => Promise<T>): Promise<T>;
  /** A job wrote to this store, which wants to be tidied. */
  changed(butler: string): void;
}

export interface Scheduler {
  start(): void;
  /** Looks at every schedule once; resolves when what was due has run. */
  tick(): Promise<void>;
  /** Somebody opened this store. */
  opened(butler: string): void;
  /** The roster has changed. */
  replan(roster: Roster): void;
  /** Runs `work` as a job under way: the owner does not leave before it ended, and waits for it at a stop. */
  track<T>(work: () => Promise<T>): Promise<T>;
  running(): number;
  stopping(): boolean;
  stop(): Promise<void>;
}

/** Later than this a run counts as missed: the timer comes every minute. */
const ON_TIME_MS = 120_000;
const MINUTE_MS = 60_000;
/** Who waits for the owner or for a store goes first. */
const CALM_MS = 1_000;
/** A store that cannot be opened, or that only another daemon can have created meanwhile, is not tried every minute. */
const LATER_MS = 10 * MINUTE_MS;
/** After a first failure, which may be a server that restarts; twice as long after each further one. */
const SOON_MS = 5_000;
/** Stores at work at a time: at 03:00 a roster of ten must not cost ten open stores. */
const AT_ONCE = 2;

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
export function dueSlots(plan: readonly Planned[], known: Known, now: Date, zone?: Zone): Slot[] {
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
const notBeforeLast = (at: Date, last: Date | undefined): Date =>
  new Date(Math.max(at.getTime(), last === undefined ? 0 : last.getTime() + LATER_MS));

interface Wanted {
  readonly wanted: Readonly<Record<string, Date>>;
}

/** What the store asks for by itself, of the jobs that are on its plan. */
function wantedSlots(plan: readonly Planned[], { wanted, last }: Known & Wanted, now: Date): Slot[] {
  return Object.entries(wanted).flatMap(([job, at]) => {
    if (!plan.some((planned) => planned.job === job) || notBeforeLast(at, last[job]) > now) return [];
    return [{ job, slot: now, trigger: "backlog", missed: 0 }];
  });
}

export function createScheduler(parts: SchedulerParts): Scheduler {
  const { clock, log, jobs, notes, zone } = parts;
  let plans = plansOf(parts.roster);

  /** A shared Memory Butler elsewhere runs its own jobs. */
  function plansOf(roster: Roster): Map<string, Planned[]> {
    return new Map(keepers(roster).map((config) => [config.name, planOf(config, jobs)]));
  }

  /** Not looked at before this time, on the clock of `performance.now()`: it has no store, or one that does not open. */
  const notBefore = new Map<string, number>();
  const busy = new Map<string, Promise<void>>();
  const underWay = new Set<Promise<unknown>>();
  const seats = limit(AT_ONCE);
  const timers = new Set<NodeJS.Timeout>();
  const failures = new Map<string, number>();
  let next: NodeJS.Timeout | undefined;
  let started = false;
  let stopping = false;

  function after(ms: number, work: () => unknown): NodeJS.Timeout {
    const timer = setTimeout(() => {
      timers.delete(timer);
      void work();
    }, ms).unref();
    timers.add(timer);
    return timer;
  }

  function track<T>(work: () => Promise<T>): Promise<T> {
    const promise = work().finally(() => underWay.delete(promise));
    underWay.add(promise);
    return promise;
  }

  async function wantsVisit(butler: string, plan: readonly Planned[]): Promise<boolean> {
    if (busy.has(butler)) return true;
    if ((notBefore.get(butler) ?? 0) > performance.now()) return false;
    notBefore.delete(butler);
    const now = clock.now();
    const known = notes.get(butler);
    if (known && !(known.wakeAt !== undefined && known.wakeAt <= now) && !anyDue(plan, known, now)) return false;
    // Asked also when there are notes: somebody may have deleted the store, and a visit would create an empty one.
    if (await parts.hasStore(butler)) return true;
    notBefore.set(butler, performance.now() + LATER_MS);
    return false;
  }

  const anyDue = (plan: readonly Planned[], known: Known, now: Date) =>
    plan.some(({ job, cron }) => latestSlot(cron, known.last[job] ?? known.since, now, zone) !== undefined);

  /** One visit at a time to each store; who comes meanwhile waits for that one. */
  function visit(butler: string, plan: readonly Planned[]): Promise<void> {
    const known = busy.get(butler);
    if (known) return known;
    const going = track(() => seats(() => visitNow(butler, plan))).finally(() => {
      busy.delete(butler);
      // What the visit found out decides when to come again.
      arm();
    });
    busy.set(butler, going);
    return going;
  }

  async function visitNow(butler: string, plan: readonly Planned[]): Promise<void> {
    if (stopping) return;
    try {
      await parts.visit(butler, ({ runs }) => work(butler, plan, runs));
      notBefore.delete(butler);
      failures.delete(butler);
    } catch (error) {
      const before = failures.get(butler) ?? 0;
      failures.set(butler, before + 1);
      notBefore.set(butler, performance.now() + Math.min(LATER_MS, SOON_MS * 2 ** before));
      log.error({ butler, reason: reasonOf(error) }, "the jobs of a butler cannot be looked after");
    }
  }

  async function work(butler: string, plan: readonly Planned[], runs: JobRuns): Promise<void> {
    const before = await look(butler, runs);
    const due = [...dueSlots(plan, before, clock.now(), zone)];
    for (const slot of wantedSlots(plan, before, clock.now()))
      if (!due.some(({ job }) => job === slot.job)) due.push(slot);
    for (const slot of due) {
      if (!(await runs.enqueue(slot))) continue;
      const fields = { butler, job: slot.job, slot: slot.slot.toISOString() };
      if (slot.missed > 0)
        log.warn({ ...fields, missed: slot.missed }, "scheduled runs of a job were missed; it runs now");
      else log.debug(fields, "a job is due");
    }
    if (due.length === 0 && before.wakeAt === undefined) return;
    const ran = await runs.drain(() => stopping);
    if (ran.length > 0) parts.changed(butler);
    await look(butler, runs);
  }

  async function look(butler: string, runs: JobRuns): Promise<Known & Wanted> {
    const { since, last, waitMs, wanted = {} } = await runs.look();
    const now = clock.now();
    const planned = new Set(plans.get(butler)?.map(({ job }) => job));
    const asked = Object.entries(wanted).flatMap(([job, at]) =>
      planned.has(job) ? [notBeforeLast(at, last[job])] : [],
    );
    // What waits behind a run of another daemon may start any moment; it is asked for every few seconds, not all the time.
    const woken = waitMs === undefined ? [] : [new Date(now.getTime() + Math.max(waitMs, SOON_MS))];
    const wakeAt = [...woken, ...asked].toSorted((a, b) => a.getTime() - b.getTime())[0];
    const known = { since: since ?? now, last, wakeAt };
    notes.set(butler, known);
    return { ...known, wanted };
  }

  async function tick(): Promise<void> {
    const visits = [...plans].map(async ([butler, plan]) => {
      if (!stopping && (await wantsVisit(butler, plan))) await visit(butler, plan);
    });
    await Promise.all(visits);
  }

  function arm(): void {
    clearTimeout(next);
    if (stopping || !started) return;
    next = after(Math.max(50, untilNext()), () => {
      // Not awaited: a long job of one butler must not hold up the slots of the others.
      void tick()
        .catch((error: unknown) => log.error({ reason: reasonOf(error) }, "the schedule could not be looked at"))
        .finally(arm);
      arm();
    });
  }

  /** Until the next slot, but looked at every minute: a computer that slept has another time when it wakes. */
  function untilNext(): number {
    const now = clock.now();
    const times = [...plans].flatMap(([butler, plan]) => {
      if (busy.has(butler)) return [];
      const later = notBefore.get(butler);
      if (later !== undefined) return [new Date(now.getTime() + later - performance.now())];
      const known = notes.get(butler);
      if (!known) return [];
      return [...plan.map(({ cron }) => nextSlot(cron, now, zone)), known.wakeAt];
    });
    const waits = times.flatMap((time) => (time ? [time.getTime() - now.getTime()] : []));
    return Math.min(MINUTE_MS, ...waits);
  }

  return {
    start() {
      // Time that stands still never comes to a slot.
      if (clock.fixed) return;
      started = true;
      after(CALM_MS, () =>
        tick()
          .catch((error: unknown) => log.error({ reason: reasonOf(error) }, "the schedule could not be looked at"))
          .finally(arm),
      );
      arm();
    },
    tick,
    opened(butler) {
      notBefore.delete(butler);
      const plan = plans.get(butler);
      if (clock.fixed || stopping || !plan || busy.has(butler)) return;
      after(CALM_MS, () => (stopping ? undefined : visit(butler, plan)));
    },
    replan(roster) {
      plans = plansOf(roster);
      arm();
    },
    track,
    running: () => underWay.size,
    stopping: () => stopping,
    async stop() {
      stopping = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.allSettled(underWay);
    },
  };
}

/** At most `seats` at work; the others wait in line. */
function limit(seats: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = seats;
  const line: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((turn) => line.push(turn));
    try {
      return await work();
    } finally {
      const nextInLine = line.shift();
      if (nextInLine) nextInLine();
      else free += 1;
    }
  };
}
