/**
 * Runs jobs when their schedule says so. It looks at the schedules when the owner starts, when a store is opened, and at each
 * slot. Slots that passed while no owner ran are made up for by one run, marked `missed`.
 */

import type { Clock } from "../../engine/adapters/clock.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Job } from "../../engine/memory/keep/job.ts";
import type { JobRuns } from "../../engine/memory/keep/run-job.ts";
import { keptHere, type Roster } from "../roster/roster.ts";
import { nextSlot, type Zone } from "./cron.ts";
import type { Known, ScheduleNotes } from "./notes.ts";
import { anyDue, LATER_MS, lateBy, notBeforeLast, type Planned, planOf, slotsToRun, type Wanted } from "./slots.ts";

export interface SchedulerParts {
  readonly roster: Roster;
  readonly clock: Clock;
  readonly log: Log;
  /** All jobs; a butler's own schedule says which of them run, and when. */
  readonly jobs: readonly Job[];
  readonly notes: ScheduleNotes;
  readonly zone?: Zone;
  /** Whether a butler has a store at all: one that was never used is not created for its jobs. */
  hasStore(butler: string): Promise<boolean>;
  /** Opens the store for `work` and, when nobody else uses it, closes it before this resolves. */
  visit<T>(butler: string, work: (engine: Pick<Engine, "runs">) => Promise<T>): Promise<T>;
  /** A job wrote to this store: maintenance is due. */
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
  /** Counts `work` as a job under way: the owner does not leave before it has ended, and waits for it at a stop. */
  track<T>(work: () => Promise<T>): Promise<T>;
  running(): number;
  stopping(): boolean;
  /** Seconds since the schedules were last looked at; undefined where none is looked at by itself. */
  lookedSeconds(): number | undefined;
  /** By how many seconds the run of each planned job of a butler is late; undefined when nothing is known of its store yet. */
  overdue(butler: string): Readonly<Record<string, number>> | undefined;
  stop(): Promise<void>;
}

/** The longest pause between two looks. That a scheduler has stopped is to be seen within half a minute; a look takes no store and a millisecond. */
const LOOK_MS = 10_000;
/** Jobs wait this long after a start or an opening, so that calls that wait go first. */
const CALM_MS = 1_000;
/** The pause after a first failure, which may be a restart of the server; it doubles with each further one. */
const SOON_MS = 5_000;
/** Stores that run jobs at the same time: at 03:00 a roster of ten butlers must not have ten stores open. */
const AT_ONCE = 2;

type Plans = ReadonlyMap<string, readonly Planned[]>;

interface SchedulerState {
  readonly parts: SchedulerParts;
  plans: Plans;
  /** Butlers that have no store, or one that does not open, with the time of the next look on the clock of `performance.now()`. */
  readonly notBefore: Map<string, number>;
  /** The visits under way, by butler. */
  readonly busy: Map<string, Promise<void>>;
  /** Visits, and jobs that people asked for. */
  readonly underWay: Set<Promise<unknown>>;
  readonly takeTurn: <T>(work: () => Promise<T>) => Promise<T>;
  readonly timers: Set<NodeJS.Timeout>;
  /** Visits that failed one after the other, by butler. */
  readonly failures: Map<string, number>;
  /** Jobs that a visit under way has asked for, by butler. */
  readonly asked: Map<string, ReadonlySet<string>>;
  next: NodeJS.Timeout | undefined;
  /** When the schedules were last looked at, on the clock of `performance.now()`. */
  lookedAt: number;
  started: boolean;
  stopping: boolean;
}

export function createScheduler(parts: SchedulerParts): Scheduler {
  const state: SchedulerState = {
    parts,
    plans: plansOf(parts.roster, parts.jobs),
    notBefore: new Map(),
    busy: new Map(),
    underWay: new Set(),
    takeTurn: limit(AT_ONCE),
    timers: new Set(),
    failures: new Map(),
    asked: new Map(),
    next: undefined,
    lookedAt: performance.now(),
    started: false,
    stopping: false,
  };
  return {
    start: () => start(state),
    tick: () => tick(state),
    opened: (butler) => opened(state, butler),
    replan(roster) {
      state.plans = plansOf(roster, parts.jobs);
      arm(state);
    },
    track: (work) => track(state, work),
    running: () => state.underWay.size,
    stopping: () => state.stopping,
    lookedSeconds: () => (state.started ? (performance.now() - state.lookedAt) / 1_000 : undefined),
    overdue: (butler) => overdue(state, butler),
    async stop() {
      state.stopping = true;
      for (const timer of state.timers) clearTimeout(timer);
      await Promise.allSettled(state.underWay);
    },
  };
}

/** A shared Memory Butler elsewhere runs its own jobs. */
const plansOf = (roster: Roster, jobs: readonly Job[]): Plans =>
  new Map(keptHere(roster).map((config) => [config.name, planOf(config, jobs)]));

function start(state: SchedulerState): void {
  // On a fixed clock no slot ever comes.
  if (state.parts.clock.fixed) return;
  state.started = true;
  state.lookedAt = performance.now();
  after(state, CALM_MS, () => tickAndArm(state));
  arm(state);
}

function opened(state: SchedulerState, butler: string): void {
  state.notBefore.delete(butler);
  const plan = state.plans.get(butler);
  if (state.parts.clock.fixed || state.stopping || !plan || state.busy.has(butler)) return;
  after(state, CALM_MS, () => (state.stopping ? undefined : visit(state, butler, plan)));
}

function after({ timers }: SchedulerState, ms: number, work: () => unknown): NodeJS.Timeout {
  const timer = setTimeout(() => {
    timers.delete(timer);
    void work();
  }, ms).unref();
  timers.add(timer);
  return timer;
}

function track<T>({ underWay }: SchedulerState, work: () => Promise<T>): Promise<T> {
  const promise = work().finally(() => underWay.delete(promise));
  underWay.add(promise);
  return promise;
}

/** A run that is under way is not late any more, however long it takes. */
function overdue({ parts, plans, asked }: SchedulerState, butler: string): Record<string, number> | undefined {
  const { clock, notes, zone } = parts;
  if (clock.fixed) return {};
  const known = notes.get(butler);
  return known && lateBy(plans.get(butler) ?? [], known, clock.now(), asked.get(butler), zone);
}

async function tick(state: SchedulerState): Promise<void> {
  state.lookedAt = performance.now();
  const visits = [...state.plans].map(async ([butler, plan]) => {
    if (!state.stopping && (await wantsVisit(state, butler, plan))) await visit(state, butler, plan);
  });
  await Promise.all(visits);
}

const tickAndArm = (state: SchedulerState): Promise<void> =>
  tick(state)
    .catch((error: unknown) =>
      state.parts.log.error({ reason: reasonOf(error) }, "the schedule could not be looked at"),
    )
    .finally(() => arm(state));

function arm(state: SchedulerState): void {
  clearTimeout(state.next);
  if (state.stopping || !state.started) return;
  state.next = after(state, Math.max(50, untilNext(state)), () => {
    // Not awaited: a long job of one butler must not hold up the slots of the others.
    void tickAndArm(state);
    arm(state);
  });
}

/** Until the next slot, but soon in any case: after a computer has slept, its clock is ahead of the timer. */
function untilNext({ parts, plans, busy, notBefore }: SchedulerState): number {
  const { clock, notes, zone } = parts;
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
  return Math.min(LOOK_MS, ...waits);
}

async function wantsVisit(state: SchedulerState, butler: string, plan: readonly Planned[]): Promise<boolean> {
  const { parts, busy, notBefore } = state;
  if (busy.has(butler)) return true;
  if ((notBefore.get(butler) ?? 0) > performance.now()) return false;
  notBefore.delete(butler);
  const now = parts.clock.now();
  const known = parts.notes.get(butler);
  const woken = known?.wakeAt !== undefined && known.wakeAt <= now;
  if (known && !woken && !anyDue(plan, known, now, parts.zone)) return false;
  // Asked even when there are notes: the store may have been deleted, and a visit would create an empty one.
  if (await parts.hasStore(butler)) return true;
  notBefore.set(butler, performance.now() + LATER_MS);
  return false;
}

/** One visit at a time to each store; a second one waits for the first instead. */
function visit(state: SchedulerState, butler: string, plan: readonly Planned[]): Promise<void> {
  const known = state.busy.get(butler);
  if (known) return known;
  const going = track(state, () => state.takeTurn(() => visitNow(state, butler, plan))).finally(() => {
    state.busy.delete(butler);
    // The next look depends on what the visit noted.
    arm(state);
  });
  state.busy.set(butler, going);
  return going;
}

async function visitNow(state: SchedulerState, butler: string, plan: readonly Planned[]): Promise<void> {
  const { parts, notBefore, failures } = state;
  if (state.stopping) return;
  try {
    await parts.visit(butler, ({ runs }) => runDue(state, butler, plan, runs));
    notBefore.delete(butler);
    failures.delete(butler);
  } catch (error) {
    const before = failures.get(butler) ?? 0;
    failures.set(butler, before + 1);
    notBefore.set(butler, performance.now() + Math.min(LATER_MS, SOON_MS * 2 ** before));
    parts.log.error({ butler, reason: reasonOf(error) }, "the jobs of a butler cannot be looked after");
  }
}

async function runDue(state: SchedulerState, butler: string, plan: readonly Planned[], runs: JobRuns): Promise<void> {
  const { clock, log, zone, changed } = state.parts;
  const before = await look(state, butler, runs);
  const due = slotsToRun(plan, before, clock.now(), zone);
  for (const slot of due) {
    if (!(await runs.enqueue(slot))) continue;
    const fields = { butler, job: slot.job, slot: slot.slot.toISOString() };
    if (slot.missed > 0)
      log.warn({ ...fields, missed: slot.missed }, "scheduled runs of a job were missed; it runs now");
    else log.debug(fields, "a job is due");
  }
  if (due.length === 0 && before.wakeAt === undefined) return;
  state.asked.set(butler, new Set(due.map(({ job }) => job)));
  try {
    const ran = await runs.drain(() => state.stopping);
    if (ran.length > 0) changed(butler);
    await look(state, butler, runs);
  } finally {
    state.asked.delete(butler);
  }
}

/** Asks the store what ran and what it waits for, and notes it. */
async function look(state: SchedulerState, butler: string, runs: JobRuns): Promise<Known & Wanted> {
  const { clock, notes } = state.parts;
  const { since, last, waitMs, wanted = {} } = await runs.look();
  const now = clock.now();
  const planned = new Set(state.plans.get(butler)?.map(({ job }) => job));
  const asked = Object.entries(wanted).flatMap(([job, at]) => (planned.has(job) ? [notBeforeLast(at, last[job])] : []));
  // A run that waits for one of another owner may start any moment; the store is asked every few seconds.
  const woken = waitMs === undefined ? [] : [new Date(now.getTime() + Math.max(waitMs, SOON_MS))];
  const wakeAt = [...woken, ...asked].toSorted((a, b) => a.getTime() - b.getTime())[0];
  const known = { since: since ?? now, last, wakeAt };
  notes.set(butler, known);
  return { ...known, wanted };
}

/** Runs at most `most` at the same time; the others wait in a queue. */
function limit(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = most;
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
