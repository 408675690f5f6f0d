/** The one process that has the stores open. The doors of this process and the clients in other processes call it. */

import {
  type Backend,
  type ButlerInfo,
  type Health,
  inTenant,
  type Principal,
  type Standing,
} from "../../doors/backend.ts";
import { MemoryError, reasonOf } from "../../engine/domain/errors.ts";
import type { RefusedAccess } from "../../engine/memory/access.ts";
import type { Following } from "../../engine/memory/following.ts";
import type { ReplayProgress } from "../../engine/memory/past/replay.ts";
import { toolNamed } from "../../engine/tools/index.ts";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import { viewNamed } from "../../engine/views/index.ts";
import type { HookOutcome } from "../health/recent-calls.ts";
import type { Roster } from "../roster/roster.ts";
import { jobRequests } from "../schedule/job-requests.ts";
import { createScheduler } from "../schedule/scheduler.ts";
import { refusedBeforeService } from "./before-service.ts";
import { noteCall, noteRefusal } from "./note-call.ts";
import {
  ask,
  isResting,
  type OwnerParts,
  type OwnerState,
  ownerState,
  refusal,
  rest,
  stopping,
  underWay,
  visit,
} from "./owner-state.ts";
import { closeAll, healthOf, type Reloaded, rosterOf, serveRoster } from "./served-butlers.ts";

export interface Owner extends Backend {
  roster(): Roster;
  /** A changed roster comes into force; calls under way end as they began. */
  reload(roster: Roster): Reloaded;
  /** Begins to look at the schedules. */
  startJobs(): void;
  /** Looks at every schedule once, and resolves when what was due has run. */
  tick(): Promise<void>;
  /** Answers `butler job`; never throws. */
  jobs(request: unknown): Promise<Outcome>;
  /** What is measured of a butler, and what follows from it; undefined when there is none of that name. */
  standing(butler: string): Promise<Standing | undefined>;
  /** The same of all butlers, those of a shared memory elsewhere included. */
  standings(): Promise<readonly Standing[]>;
  /** A hook was answered. */
  hooked(butler: string, outcome: HookOutcome): void;
  /** Writes down what callers of this butler were refused, in the streams of their tenants. */
  tellRefused(butler: string, refused: readonly RefusedAccess[]): Promise<void>;
  /** Rebuilds a butler's rows from its stream and compares them; never throws. */
  verifyReplay(butler: string, tell: ReplayProgress): Promise<Outcome>;
  /** Opens the store before the first call asks for it, where there is only one. If that fails, the first call tries again and says why. */
  warm(): void;
  /** Lets go of stores and models now; resolves when they are gone. The next call brings them back. */
  rest(): Promise<void>;
  /** Calls that have not been answered yet. */
  inFlight(): number;
  /** No call or job is under way and no model is being fetched: a download that is cut off at every idle stop would never end. */
  atRest(): boolean;
  /** When the last call came or was answered, on the clock of `performance.now()`. */
  lastCall(): number;
  /** Waits for calls under way, then closes every store. */
  close(): Promise<void>;
}

export function createOwner(parts: OwnerParts): Owner {
  const state = ownerState(parts);
  const roster = () => rosterOf(state.butlers);
  const answerJobs = jobsOf(state);
  return {
    butlers: async () => roster().map(({ name, role, description }): ButlerInfo => ({ name, role, description })),
    invoke: (principal, butler, request, following) =>
      underWay(state, async () => {
        const work = () => withinLimits(state, principal, butler, request, following);
        return noteRefusal(state, principal, butler, request, await noteCall(state, butler, request, work));
      }),
    health: () => health(state),
    roster,
    reload(changed) {
      const reloaded = serveRoster(state.butlers, changed);
      state.scheduler?.replan(changed);
      return reloaded;
    },
    warm: () => warm(state),
    startJobs: () => state.scheduler?.start(),
    async tick() {
      await state.scheduler?.tick();
    },
    async jobs(request) {
      if (state.closed) return stopping;
      if (!answerJobs) return refusal("unavailable", "This owner runs no jobs.");
      state.lastCall = performance.now();
      return answerJobs(request);
    },
    standing: async (butler) => (await standings(state, butler))[0],
    standings: () => standings(state),
    hooked(butler, outcome) {
      state.calls.noteHook(butler, outcome);
      state.meter.count("butler_hooks_total", { butler, outcome });
    },
    tellRefused: (butler, refused) => visit(state, butler, (engine) => engine.tellRefused(refused)),
    verifyReplay: (butler, tell) => underWay(state, () => compareWithStream(state, butler, tell)),
    rest: () => rest(state),
    inFlight: () => state.inFlight,
    atRest: () =>
      state.inFlight === 0 &&
      (state.scheduler?.running() ?? 0) === 0 &&
      ![...state.models].some((model) => model.fetching()),
    lastCall: () => state.lastCall,
    close: () => close(state),
  };
}

/** Sets the scheduler of the owner, and returns what answers `butler job`. */
function jobsOf(state: OwnerState): ((request: unknown) => Promise<Outcome>) | undefined {
  const { jobs, log } = state.parts;
  if (!jobs) return undefined;
  const roster = () => rosterOf(state.butlers);
  const changed = (butler: string) => {
    state.butlers.byName.get(butler)?.keeper.used(true);
    state.standings.changed(butler);
    state.parts.changes?.changed(butler);
  };
  const common = { ...jobs, log, changed };
  const scheduler = createScheduler({ ...common, roster: roster(), visit: (name, work) => visit(state, name, work) });
  state.scheduler = scheduler;
  return jobRequests({ ...common, roster, scheduler, visit: (name, work) => ask(state, name, work) });
}

/** Calls of butlers that are not there are refused at once. */
function withinLimits(
  state: OwnerState,
  principal: Principal,
  butler: string,
  request: ToolRequest,
  following: Following | undefined,
): Promise<Outcome> {
  const served = state.butlers.byName.get(butler);
  const work = (followed: Following | undefined) => answer(state, principal, butler, request, followed);
  const { limits } = state.parts;
  // A service shares out its own calls; if it is this very owner, a call would wait for the place that it holds itself.
  if (limits === undefined || served === undefined || served.remote !== undefined) return work(following);
  const { tenant } = inTenant(principal, served.config.tenant);
  return limits.run({ tenant, tool: request.tool, bounded: request.limited === true, following }, work);
}

async function answer(
  { butlers, parts, standings }: OwnerState,
  principal: Principal,
  butler: string,
  request: ToolRequest,
  following: Following | undefined,
): Promise<Outcome> {
  const served = butlers.byName.get(butler);
  if (!served) {
    const names = [...butlers.byName.keys()].join(", ");
    return refusal("not_found", `There is no butler "${butler}"; there is ${names}.`);
  }
  const { config, keeper, remote } = served;
  const by = inTenant(principal, config.tenant);
  if (principal.butler !== "*" && principal.butler !== butler && config.role !== "memory") {
    return refusal("forbidden", `This token is for the butler "${principal.butler}", not for "${butler}".`, "butler");
  }
  if (!config.memory.enabled) return switchedOff(butler);
  if (remote) return refusedBeforeService(config, by, request, remote.url) ?? remote.call(request, following);
  const { tool, input, ...options } = request;
  const taken = (viewNamed(tool) ?? toolNamed(tool))?.effect === "forget" ? parts.changes?.taking(butler) : undefined;
  try {
    let wrote = false;
    const outcome = await keeper.use((engine) => {
      wrote = engine.writes(tool);
      return engine.call(tool, input, { ...options, by, following });
    });
    keeper.used(wrote);
    if (wrote) {
      standings.changed(butler);
      parts.changes?.changed(butler, tool);
    }
    return outcome;
  } catch (error) {
    parts.log.error({ butler, reason: reasonOf(error) }, "a store could not be opened");
    const message =
      error instanceof MemoryError ? error.message : `The memory of "${butler}" cannot be opened: ${reasonOf(error)}`;
    return refusal("unavailable", message);
  } finally {
    taken?.();
  }
}

async function compareWithStream(state: OwnerState, butler: string, tell: ReplayProgress): Promise<Outcome> {
  const served = state.butlers.byName.get(butler);
  if (served?.config.memory.enabled === false) return switchedOff(butler);
  if (served?.remote)
    return refusal("unavailable", `"${butler}" keeps its memory at ${served.remote.url}; replay it there.`);
  try {
    const report = await visit(state, butler, (engine) =>
      engine.verifyReplay((step) => {
        // A stop does not wait for it: it changes nothing, and can be run again.
        if (state.closed) throw new MemoryError(stopping.error.code, stopping.error.message);
        tell(step);
      }),
    );
    return { ok: true, answer: { ...report } };
  } catch (error) {
    if (error instanceof MemoryError) return refusal(error.code, error.message);
    state.parts.log.error({ butler, err: error }, "a replay failed");
    return refusal("internal", `The replay failed: ${reasonOf(error)}`);
  }
}

async function standings({ butlers, standings: all }: OwnerState, only?: string): Promise<Standing[]> {
  const asked = [...butlers.byName.values()].filter(({ config }) => only === undefined || config.name === only);
  const states = await healthOf({ ...butlers, byName: new Map(asked.map((one) => [one.config.name, one])) });
  return Promise.all(asked.map((one, at) => all.of(one, states[at] ?? { name: one.config.name, store: "unknown" })));
}

async function health(state: OwnerState): Promise<Health> {
  const { butlers, models, parts } = state;
  const standings = await healthOf(butlers);
  const model = [...models].map((shared) => shared.status()).join("; ");
  const ok = standings.every(({ store }) => store !== "failed" && store !== "unknown");
  return { ok, version: parts.version, model, resting: isResting(state), butlers: standings };
}

function warm({ butlers }: OwnerState): void {
  const kept = [...butlers.byName.values()].filter(({ config, remote }) => config.memory.enabled && !remote);
  if (kept.length === 1) void kept[0]?.keeper.use(async () => undefined).catch(() => undefined);
}

async function close(state: OwnerState): Promise<void> {
  state.closed = true;
  // Calls end before stores are closed: a call that waits for an idle store to close would open it again.
  await state.scheduler?.stop();
  if (state.inFlight > 0) await new Promise<void>((done) => state.drained.push(done));
  await closeAll(state.butlers);
  await Promise.all([...state.models].map((model) => model.close()));
}

const switchedOff = (butler: string): Outcome =>
  refusal("unavailable", `"${butler}" has no memory; [modules.memory] in its butler.toml switches it on.`);
