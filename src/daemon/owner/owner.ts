/** The one process that has the stores open. Every door of this house, and every proxy elsewhere, comes to it. */

import { type ButlerInfo, type Health, type Host, inTenant, type Principal } from "../../doors/host.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import type { Embedder } from "../../engine/adapters/embedder/port.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { MemoryError } from "../../engine/domain/errors.ts";
import { EVERY_SCOPE } from "../../engine/domain/scope.ts";
import type { JobRunner } from "../../engine/memory/keep/run-job.ts";
import type { ReplayProgress, ReplayReport } from "../../engine/memory/past/replay.ts";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import type { ButlerConfig } from "../config/config.ts";
import { reasonOf } from "../home.ts";
import type { Roster } from "../roster/roster.ts";
import { jobDesk } from "../schedule/job-desk.ts";
import type { ScheduleNotes } from "../schedule/notes.ts";
import { createScheduler } from "../schedule/scheduler.ts";
import type { RemoteMemory } from "./remote-memory.ts";
import { createRooms, type Reloaded } from "./rooms.ts";
import type { SharedModel } from "./shared-model.ts";
import { type Closable, storeKeeper, type Upkeep } from "./store-keeper.ts";

export interface OwnerParts<M extends Closable> {
  readonly version: string;
  readonly roster: Roster;
  readonly log: Log;
  open(butler: ButlerConfig, embedder: Embedder | undefined): Promise<M>;
  call(memory: M, principal: Principal, request: ToolRequest): Promise<Outcome>;
  /** Hands a model that has arrived to a store that was opened without one. */
  adopt(memory: M, embedder: Embedder): Promise<void>;
  maintain(memory: M, upkeep: Upkeep): Promise<void>;
  /** Whether a tool changes what a user would miss; decides how soon the store is tidied. */
  writes(tool: string): boolean;
  model(variant: ButlerConfig["memory"]["embedding_variant"]): SharedModel;
  /** The way to a shared Memory Butler; absent: this owner knows only stores of its own. */
  remote?(butler: ButlerConfig): RemoteMemory;
  /** Asks an open store something that every living store can answer. */
  probe?(memory: M): Promise<unknown>;
  /** Fails when the database server cannot be reached; absent for embedded stores. */
  readonly reach?: (() => Promise<void>) | undefined;
  /** Absent: this owner runs no jobs. */
  readonly jobs?: OwnerJobs<M>;
  /** Absent: this owner cannot replay. */
  verify?(memory: M, tell: ReplayProgress): Promise<ReplayReport>;
  readonly storeIdleMs?: number;
  readonly quietMs?: number;
  readonly maintainEveryMs?: number;
  readonly fullEveryMs?: number;
}

export interface OwnerJobs<M> {
  readonly runner: JobRunner<M>;
  readonly clock: Clock;
  readonly notes: ScheduleNotes;
  readonly zone?: string;
  hasStore(butler: string): Promise<boolean>;
}

export interface Owner extends Host {
  roster(): Roster;
  /** A changed roster comes into force; calls under way end as they began. */
  reload(roster: Roster): Reloaded;
  /** Begins to look at the schedules. */
  startJobs(): void;
  /** Looks at every schedule once, and resolves when what was due has run. */
  tick(): Promise<void>;
  /** What people ask about jobs; never throws. */
  jobs(request: unknown): Promise<Outcome>;
  /** Rebuilds a butler's rows from its stream and compares them; never throws. */
  verifyReplay(butler: string, tell: ReplayProgress): Promise<Outcome>;
  /** Opens the only store there is before the first call asks for it. What fails is told to that call. */
  warm(): void;
  /** Calls that have not been answered yet. */
  inFlight(): number;
  /** No call or job is under way and no model is being fetched: a download that is cut off at every idle stop would never end. */
  atRest(): boolean;
  /** When the last call came or was answered, on the clock of `performance.now()`. */
  lastCall(): number;
  /** Waits for calls under way, then closes every store. */
  close(): Promise<void>;
}

export function createOwner<M extends Closable>(parts: OwnerParts<M>): Owner {
  const { log } = parts;
  const visitors = new Map<string, number>();
  let inFlight = 0;
  let lastCall = performance.now();
  let closed = false;
  const drained: (() => void)[] = [];
  const models = new Set<SharedModel>();
  const rooms = createRooms<M>(parts.roster, { keep, remote: parts.remote, probe: parts.probe, reach: parts.reach });

  function keep(config: ButlerConfig, after: Promise<void> | undefined) {
    const { name } = config;
    const model = modelOf(config);
    return storeKeeper<M>({
      butler: name,
      log,
      open: async () => {
        await after;
        return parts.open(config, await model.handle());
      },
      maintain: parts.maintain,
      opened: () => {
        // A visit for a job has its own look at the schedule.
        if ((visitors.get(name) ?? 0) === 0) scheduler?.opened(name);
      },
      closed: letGoOfModels,
      idleMs: parts.storeIdleMs ?? 5 * 60_000,
      quietMs: parts.quietMs ?? 1_000,
      maintainEveryMs: parts.maintainEveryMs ?? 3 * 60_000,
      fullEveryMs: parts.fullEveryMs ?? 60 * 60_000,
    });
  }

  function modelOf({ memory }: ButlerConfig): SharedModel {
    const model = parts.model(memory.embedding_variant);
    if (!models.has(model)) {
      models.add(model);
      model.onArrival((embedder) => handOut(model, embedder));
    }
    return model;
  }

  const work = parts.jobs && jobsOf(parts.jobs);
  const scheduler = work?.scheduler;

  function jobsOf(jobs: OwnerJobs<M>) {
    const changed = (butler: string) => rooms.get(butler)?.keeper.used(true);
    const common = { ...jobs, log, visit, changed };
    const scheduler = createScheduler<M>({ ...common, roster: rooms.roster() });
    return { scheduler, desk: jobDesk<M>({ ...common, roster: rooms.roster, visit: ask, scheduler }) };
  }

  /** A visit for somebody who waits: the answer does not wait for the store to close. */
  function ask<T>(butler: string, visitor: (memory: M) => Promise<T>): Promise<T> {
    return new Promise((done, failed) => {
      visit(butler, async (memory) => done(await visitor(memory))).catch(failed);
    });
  }

  async function visit<T>(butler: string, visitor: (memory: M) => Promise<T>): Promise<T> {
    const keeper = rooms.get(butler)?.keeper;
    if (!keeper) throw new MemoryError("not_found", `There is no butler "${butler}".`);
    visitors.set(butler, (visitors.get(butler) ?? 0) + 1);
    try {
      return await keeper.visit(visitor);
    } finally {
      visitors.set(butler, (visitors.get(butler) ?? 1) - 1);
    }
  }

  function handOut(model: SharedModel, embedder: Embedder): void {
    for (const { config, keeper } of rooms.all()) {
      if (parts.model(config.memory.embedding_variant) !== model) continue;
      keeper.ifOpen(async (memory) => {
        await parts.adopt(memory, embedder);
        // What was stored without a vector gets one in the next maintenance.
        keeper.used(true);
      });
    }
  }

  /** The weights are the largest thing in memory; a house at rest does not keep them. */
  function letGoOfModels(): void {
    if (rooms.all().some(({ keeper }) => keeper.state().store === "open")) return;
    for (const model of models) void model.drop();
  }

  async function underWay(work: () => Promise<Outcome>): Promise<Outcome> {
    if (closed) return refusal("unavailable", "The owner of the memory is stopping; try again.");
    inFlight += 1;
    lastCall = performance.now();
    try {
      return await work();
    } finally {
      inFlight -= 1;
      lastCall = performance.now();
      if (inFlight === 0) for (const wake of drained.splice(0)) wake();
    }
  }

  async function compareWithStream(butler: string, tell: ReplayProgress): Promise<Outcome> {
    const { verify } = parts;
    if (!verify) return refusal("unavailable", "This owner cannot replay.");
    const room = rooms.get(butler);
    if (room?.config.memory.enabled === false) return switchedOff(butler);
    if (room?.remote)
      return refusal("unavailable", `"${butler}" keeps its memory at ${room.remote.url}; replay it there.`);
    try {
      const report = await visit(butler, (memory) =>
        verify(memory, (step) => {
          // A stop does not wait for it: it changes nothing, and can be run again.
          if (closed) throw new MemoryError("unavailable", "The owner of the memory is stopping; try again.");
          tell(step);
        }),
      );
      return { ok: true, answer: { ...report } };
    } catch (error) {
      if (error instanceof MemoryError) return refusal(error.code, error.message);
      log.error({ butler, err: error }, "a replay failed");
      return refusal("internal", `The replay failed: ${reasonOf(error)}`);
    }
  }

  const names = () =>
    rooms
      .roster()
      .map(({ name }) => name)
      .join(", ");

  async function answer(principal: Principal, butler: string, request: ToolRequest): Promise<Outcome> {
    const room = rooms.get(butler);
    if (!room) return refusal("not_found", `There is no butler "${butler}"; there is ${names()}.`);
    const { config, keeper, remote } = room;
    const who = inTenant(principal, config.tenant);
    if (principal.butler !== "*" && principal.butler !== butler && config.role !== "memory") {
      return refusal("forbidden", `This token is for the butler "${principal.butler}", not for "${butler}".`);
    }
    if (!config.memory.enabled) return switchedOff(butler);
    if (remote) return strangerTo(config, who, request) ?? remote.call(request);
    try {
      const outcome = await keeper.use((memory) => parts.call(memory, who, request));
      keeper.used(parts.writes(request.tool));
      return outcome;
    } catch (error) {
      log.error({ butler, reason: reasonOf(error) }, "a store could not be opened");
      const message =
        error instanceof MemoryError ? error.message : `The memory of "${butler}" cannot be opened: ${reasonOf(error)}`;
      return refusal("unavailable", message);
    }
  }

  return {
    async butlers() {
      return rooms.roster().map(({ name, role, description }): ButlerInfo => ({ name, role, description }));
    },
    async invoke(principal, butler, request) {
      return underWay(() => answer(principal, butler, request));
    },
    async health(): Promise<Health> {
      const butlers = await rooms.health();
      const model = [...models].map((shared) => shared.status()).join("; ");
      const ok = butlers.every(({ store }) => store !== "failed" && store !== "unknown");
      return { ok, version: parts.version, model, butlers };
    },
    roster: rooms.roster,
    reload(roster) {
      const reloaded = rooms.reload(roster);
      scheduler?.replan(roster);
      return reloaded;
    },
    warm() {
      const kept = rooms.all().filter(({ config, remote }) => config.memory.enabled && !remote);
      if (kept.length === 1) void kept[0]?.keeper.use(async () => undefined).catch(() => undefined);
    },
    startJobs: () => scheduler?.start(),
    async tick() {
      await scheduler?.tick();
    },
    async jobs(request) {
      if (closed) return refusal("unavailable", "The owner of the memory is stopping; try again.");
      if (!work) return refusal("unavailable", "This owner runs no jobs.");
      lastCall = performance.now();
      return work.desk(request);
    },
    verifyReplay: (butler, tell) => underWay(() => compareWithStream(butler, tell)),
    inFlight: () => inFlight,
    atRest: () => inFlight === 0 && (scheduler?.running() ?? 0) === 0 && ![...models].some((model) => model.fetching()),
    lastCall: () => lastCall,
    async close() {
      closed = true;
      // First the calls, then the stores: a call that waits for an idle store to close would open it again.
      await scheduler?.stop();
      if (inFlight > 0) await new Promise<void>((done) => drained.push(done));
      await rooms.close();
      await Promise.all([...models].map((model) => model.close()));
    },
  };
}

/**
 * The service sees one token for all who call through this house: that token's tenant and rights. Whoever is of
 * another tenant here, or may do less, would become that one there.
 */
function strangerTo(config: ButlerConfig, principal: Principal, { input }: ToolRequest): Outcome | undefined {
  const { name, tenant } = config;
  if (principal.tenant !== tenant)
    return refusal("forbidden", `The memory of "${name}" is kept by a service for another tenant than this token's.`);
  const scope = typeof input === "object" && input !== null && "scope" in input ? input.scope : undefined;
  if (scope === EVERY_SCOPE && !principal.admin)
    return refusal("forbidden", 'scope "*" needs an admin token; leave scope out to read your own.');
  return undefined;
}

const switchedOff = (butler: string): Outcome =>
  refusal("unavailable", `"${butler}" has no memory; [modules.memory] in its butler.toml switches it on.`);

function refusal(code: MemoryError["code"], message: string): Outcome {
  return { ok: false, error: { code, message } };
}
