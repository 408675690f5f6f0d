/** The one process that has the stores open. Every door of this house, and every proxy elsewhere, comes to it. */
import type { Embedder } from "../adapters/embedder/port.ts";
import type { Log } from "../adapters/log.ts";
import { MemoryError } from "../domain/errors.ts";
import type { ButlerInfo, Health, Host, Principal } from "../serve/host.ts";
import type { Outcome, ToolRequest } from "../tools/outcome.ts";
import type { ButlerConfig } from "./config.ts";
import { reasonOf } from "./home.ts";
import type { Roster } from "./roster.ts";
import type { SharedModel } from "./shared-model.ts";
import { type Closable, type StoreKeeper, storeKeeper, type Upkeep } from "./store-keeper.ts";

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
  readonly storeIdleMs?: number;
  readonly quietMs?: number;
  readonly maintainEveryMs?: number;
  readonly fullEveryMs?: number;
}

export interface Owner extends Host {
  /** Opens the only store there is before the first call asks for it. What fails is told to that call. */
  warm(): void;
  /** Calls that have not been answered yet. */
  inFlight(): number;
  /** No call is under way and no model is being fetched: a download that is cut off at every idle stop would never end. */
  atRest(): boolean;
  /** When the last call came or was answered, on the clock of `performance.now()`. */
  lastCall(): number;
  /** Waits for calls under way, then closes every store. */
  close(): Promise<void>;
}

interface Room<M> {
  readonly config: ButlerConfig;
  readonly keeper: StoreKeeper<M>;
}

export function createOwner<M extends Closable>(parts: OwnerParts<M>): Owner {
  const { log, roster } = parts;
  const rooms = new Map<string, Room<M>>();
  const models = new Set(roster.map((config) => parts.model(config.memory.embedding_variant)));
  let inFlight = 0;
  let lastCall = performance.now();
  let closed = false;
  const drained: (() => void)[] = [];

  for (const config of roster) {
    const keeper = storeKeeper<M>({
      butler: config.name,
      log,
      open: async () => parts.open(config, await parts.model(config.memory.embedding_variant).handle()),
      maintain: parts.maintain,
      closed: letGoOfModels,
      idleMs: parts.storeIdleMs ?? 5 * 60_000,
      quietMs: parts.quietMs ?? 1_000,
      maintainEveryMs: parts.maintainEveryMs ?? 3 * 60_000,
      fullEveryMs: parts.fullEveryMs ?? 60 * 60_000,
    });
    rooms.set(config.name, { config, keeper });
  }
  for (const model of models) model.onArrival((embedder) => handOut(model, embedder));

  function handOut(model: SharedModel, embedder: Embedder): void {
    for (const { config, keeper } of rooms.values()) {
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
    if ([...rooms.values()].some(({ keeper }) => keeper.state().store === "open")) return;
    for (const model of models) void model.drop();
  }

  async function answer(principal: Principal, butler: string, request: ToolRequest): Promise<Outcome> {
    const room = rooms.get(butler);
    if (!room) return refusal("not_found", `There is no butler "${butler}"; there is ${[...rooms.keys()].join(", ")}.`);
    const { config, keeper } = room;
    if (principal.butler !== "*" && principal.butler !== butler && config.role !== "memory") {
      return refusal("forbidden", `This token is for the butler "${principal.butler}", not for "${butler}".`);
    }
    if (!config.memory.enabled) {
      return refusal(
        "unavailable",
        `Memory is switched off for "${butler}" (modules.memory.enabled in its butler.toml).`,
      );
    }
    try {
      const outcome = await keeper.use((memory) => parts.call(memory, principal, request));
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
      return roster.map(({ name, role, description }): ButlerInfo => ({ name, role, description }));
    },
    async invoke(principal, butler, request) {
      if (closed) return refusal("unavailable", "The owner of the memory is stopping; try again.");
      inFlight += 1;
      lastCall = performance.now();
      try {
        return await answer(principal, butler, request);
      } finally {
        inFlight -= 1;
        lastCall = performance.now();
        if (inFlight === 0) for (const wake of drained.splice(0)) wake();
      }
    },
    async health(): Promise<Health> {
      const butlers = [...rooms.values()].map(({ config, keeper }) => ({ name: config.name, ...keeper.state() }));
      const model = [...models].map((shared) => shared.status()).join("; ");
      return { ok: butlers.every(({ store }) => store !== "failed"), version: parts.version, model, butlers };
    },
    warm() {
      const [only] = rooms.values();
      if (rooms.size === 1) void only?.keeper.use(async () => undefined).catch(() => undefined);
    },
    inFlight: () => inFlight,
    atRest: () => inFlight === 0 && ![...models].some((model) => model.fetching()),
    lastCall: () => lastCall,
    async close() {
      closed = true;
      // First the calls, then the stores: a call that waits for an idle store to close would open it again.
      if (inFlight > 0) await new Promise<void>((done) => drained.push(done));
      await Promise.all([...rooms.values()].map(({ keeper }) => keeper.close()));
      await Promise.all([...models].map((model) => model.close()));
    },
  };
}

function refusal(code: MemoryError["code"], message: string): Outcome {
  return { ok: false, error: { code, message } };
}
