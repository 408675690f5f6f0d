/** The state of a running owner, and the steps that its calls and jobs share: opening a store for work, counting calls, handing out models. */

import type { Refusals } from "../../doors/refusals.ts";
import { type Clock, systemClock } from "../../engine/adapters/clock.ts";
import type { Embedder } from "../../engine/adapters/embedder/port.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { type Meter, silentMeter } from "../../engine/adapters/meter.ts";
import { MemoryError } from "../../engine/domain/errors.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Job } from "../../engine/memory/keep/job.ts";
import type { Outcome } from "../../engine/tools/outcome.ts";
import type { ButlerConfig } from "../config/config.ts";
import { type RecentCalls, recentCalls } from "../health/recent-calls.ts";
import type { Sampled } from "../health/sampler.ts";
import { createStandings, type Standings } from "../health/standing.ts";
import type { CallLimits } from "../limits/limited-call.ts";
import type { Roster } from "../roster/roster.ts";
import type { ScheduleNotes } from "../schedule/notes.ts";
import type { Scheduler } from "../schedule/scheduler.ts";
import type { RemoteMemory } from "./remote-memory.ts";
import { type ServedButlers, servedButlers, serveRoster } from "./served-butlers.ts";
import type { SharedModel } from "./shared-model.ts";
import { type StoreKeeper, storeKeeper } from "./store-keeper.ts";

export interface OwnerParts {
  readonly version: string;
  readonly roster: Roster;
  readonly log: Log;
  open(butler: ButlerConfig, embedder: Embedder | undefined): Promise<Engine>;
  model(variant: ButlerConfig["memory"]["embedding_variant"]): SharedModel;
  /** The way to a shared Memory Butler; absent: this owner knows only stores of its own. */
  remote?(butler: ButlerConfig): RemoteMemory;
  /** Fails when the database server cannot be reached; absent for embedded stores. */
  readonly reach?: (() => Promise<void>) | undefined;
  /** Asks a database of that server for its numbers without opening the memory in it; absent for embedded stores. */
  readonly peek?: ((butler: string, work: (store: Sampled) => Promise<void>) => Promise<void>) | undefined;
  /** Absent: nothing is measured. */
  readonly meter?: Meter | undefined;
  /** How calls are shared out among tenants; absent: they are not. */
  readonly limits?: CallLimits | undefined;
  /** Told of every call that was refused. */
  readonly refusals?: Refusals | undefined;
  /** Told of every change of a memory that is kept here. */
  readonly changes?: OwnerChanges | undefined;
  /** Absent: this owner runs no jobs. */
  readonly jobs?: OwnerJobs;
  /** Called when the last store has been closed and no model is loaded any more. */
  rested?(): void;
  /** A store that nobody has used for this long is closed; with the last one the models are let go. */
  readonly storeIdleMs?: number;
  readonly quietMs?: number;
  readonly maintainEveryMs?: number;
  readonly fullEveryMs?: number;
}

export interface OwnerChanges {
  /** A memory was written to, by this tool or by a job. */
  changed(butler: string, tool?: string): void;
  /** Before something is taken out of a memory; the returned function is called when that is done, or failed. */
  taking(butler: string): () => void;
}

export interface OwnerJobs {
  readonly jobs: readonly Job[];
  readonly clock: Clock;
  readonly notes: ScheduleNotes;
  readonly zone?: string;
  hasStore(butler: string): Promise<boolean>;
}

export interface OwnerState {
  readonly parts: OwnerParts;
  readonly butlers: ServedButlers;
  /** The models that some butler has asked for. */
  readonly models: Set<SharedModel>;
  /** How many visits (`visit` below) are under way to each butler's store. */
  readonly visitors: Map<string, number>;
  readonly calls: RecentCalls;
  readonly meter: Meter;
  readonly standings: Standings;
  /** Set right after the start where the owner runs jobs. */
  scheduler: Scheduler | undefined;
  /** Set while models are being dropped. */
  lettingGo: Promise<void> | undefined;
  inFlight: number;
  /** When the last call came or was answered, on the clock of `performance.now()`. */
  lastCall: number;
  closed: boolean;
  /** Who waits until no call is under way. */
  readonly drained: (() => void)[];
}

export function ownerState(parts: OwnerParts): OwnerState {
  const calls = recentCalls(() => performance.now());
  const state: OwnerState = {
    parts,
    calls,
    meter: parts.meter ?? silentMeter,
    standings: createStandings({
      calls,
      scheduler: () => state.scheduler,
      now: () => parts.jobs?.clock.now() ?? systemClock.now(),
      visit: (butler, work) => visit(state, butler, work),
      hasStore: async (butler) => parts.jobs?.hasStore(butler) ?? true,
      peek: parts.peek,
    }),
    butlers: servedButlers({
      keep: (config, after) => keepStore(state, config, after),
      remote: parts.remote,
      reach: parts.reach,
    }),
    models: new Set(),
    visitors: new Map(),
    scheduler: undefined,
    lettingGo: undefined,
    inFlight: 0,
    lastCall: performance.now(),
    closed: false,
    drained: [],
  };
  serveRoster(state.butlers, parts.roster);
  return state;
}

function keepStore(state: OwnerState, config: ButlerConfig, after: Promise<void> | undefined): StoreKeeper<Engine> {
  const { parts } = state;
  const { name } = config;
  const model = modelOf(state, config);
  const isVisit = () => (state.visitors.get(name) ?? 0) > 0;
  return storeKeeper<Engine>({
    butler: name,
    log: parts.log,
    open: async () => {
      await after;
      return parts.open(config, await model.handle(!isVisit()));
    },
    maintain: (engine, upkeep) => engine.maintain(upkeep),
    opened: () => {
      // A visit for a job looks at the schedule itself.
      if (!isVisit()) state.scheduler?.opened(name);
    },
    closed: () => void letGo(state),
    idleMs: parts.storeIdleMs ?? 5 * 60_000,
    quietMs: parts.quietMs ?? 1_000,
    maintainEveryMs: parts.maintainEveryMs ?? 3 * 60_000,
    fullEveryMs: parts.fullEveryMs ?? 60 * 60_000,
  });
}

function modelOf(state: OwnerState, { memory }: ButlerConfig): SharedModel {
  const model = state.parts.model(memory.embedding_variant);
  if (!state.models.has(model)) {
    state.models.add(model);
    model.onArrival((embedder) => giveToOpenStores(state, model, embedder));
  }
  return model;
}

/** Gives a model that has arrived to the stores that were opened without one. */
function giveToOpenStores({ parts, butlers }: OwnerState, model: SharedModel, embedder: Embedder): void {
  for (const { config, keeper } of butlers.byName.values()) {
    if (parts.model(config.memory.embedding_variant) !== model) continue;
    keeper.ifOpen(async (engine) => {
      await engine.adopt(embedder);
      // What was stored without a vector gets one in the next maintenance.
      keeper.used(true);
    });
  }
}

/** An owner without an open store keeps no model either. The next call opens the store and loads the model side by side. */
function letGo(state: OwnerState): Promise<void> {
  state.lettingGo ??= dropModels(state).finally(() => {
    state.lettingGo = undefined;
  });
  return state.lettingGo;
}

async function dropModels(state: OwnerState): Promise<void> {
  if (hasOpenStore(state)) return;
  await Promise.all([...state.models].map((model) => model.drop()));
  if (isResting(state) && !state.closed) state.parts.rested?.();
}

const hasOpenStore = ({ butlers }: OwnerState): boolean =>
  [...butlers.byName.values()].some(({ keeper }) => keeper.state().store === "open");

/** Neither a store nor a model is in memory. */
export const isResting = (state: OwnerState): boolean =>
  !hasOpenStore(state) && ![...state.models].some((model) => model.loaded());

/** Closes every store without waiting until it is unused for long; calls under way end first, and later ones open it again. */
export async function rest(state: OwnerState): Promise<void> {
  await Promise.all([...state.butlers.byName.values()].map(({ keeper }) => keeper.close()));
  await letGo(state);
}

/** Opens a butler's store for `work`; one that was closed before is closed again, and then this resolves. */
export async function visit<T>(state: OwnerState, butler: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  const { butlers, visitors } = state;
  const keeper = butlers.byName.get(butler)?.keeper;
  if (!keeper) throw new MemoryError("not_found", `There is no butler "${butler}".`);
  visitors.set(butler, (visitors.get(butler) ?? 0) + 1);
  try {
    return await keeper.visit(work);
  } finally {
    visitors.set(butler, (visitors.get(butler) ?? 1) - 1);
  }
}

/** A visit for somebody who waits: the answer does not wait for the store to close. */
export function ask<T>(state: OwnerState, butler: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  return new Promise((done, failed) => {
    visit(state, butler, async (engine) => done(await work(engine))).catch(failed);
  });
}

/** Counts a call from its arrival to its answer; a stop waits for it. */
export async function underWay(state: OwnerState, work: () => Promise<Outcome>): Promise<Outcome> {
  if (state.closed) return stopping;
  state.inFlight += 1;
  state.lastCall = performance.now();
  try {
    return await work();
  } finally {
    state.inFlight -= 1;
    state.lastCall = performance.now();
    if (state.inFlight === 0) for (const wake of state.drained.splice(0)) wake();
  }
}

export const stopping = refusal("unavailable", "The owner of the memory is stopping; try again.");

export function refusal(code: MemoryError["code"], message: string, field?: string): Extract<Outcome, { ok: false }> {
  return { ok: false, error: { code, message, ...(field === undefined ? {} : { field }) } };
}
