/** The butlers of a running house, each with its store here or its way to a shared one. The roster may change meanwhile. */
import type { Health } from "../../doors/host.ts";
import type { ButlerConfig } from "../config/config.ts";
import { reasonOf } from "../home.ts";
import { within } from "../pause.ts";
import type { Roster } from "../roster/roster.ts";
import type { RemoteMemory } from "./remote-memory.ts";
import type { Closable, StoreKeeper } from "./store-keeper.ts";

export interface Room<M> {
  readonly config: ButlerConfig;
  readonly keeper: StoreKeeper<M>;
  /** Present when the memory is kept by a shared Memory Butler elsewhere. */
  readonly remote: RemoteMemory | undefined;
}

export interface RoomParts<M> {
  /** `after`: the butler's former store, which must be closed before this one opens. */
  keep(config: ButlerConfig, after: Promise<void> | undefined): StoreKeeper<M>;
  remote?: ((config: ButlerConfig) => RemoteMemory) | undefined;
  /** Asks an open store something that every living store can answer. */
  probe?: ((memory: M) => Promise<unknown>) | undefined;
  /** Fails when the database server of closed stores cannot be reached. */
  reach?: (() => Promise<void>) | undefined;
}

export interface Reloaded {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export interface Rooms<M> {
  get(butler: string): Room<M> | undefined;
  all(): readonly Room<M>[];
  roster(): Roster;
  /** Butlers that stayed the same notice nothing; the others get their new settings with the next call. */
  reload(roster: Roster): Reloaded;
  health(): Promise<Health["butlers"]>;
  close(): Promise<void>;
}

type Standing = Health["butlers"][number];

/** Whoever asks for health waits no longer than this for a store that does not answer. */
const PROBE_MS = 1_500;

export function createRooms<M extends Closable>(first: Roster, parts: RoomParts<M>): Rooms<M> {
  let rooms = new Map<string, Room<M>>();
  const leaving = new Set<Promise<void>>();

  function open(config: ButlerConfig, after?: Promise<void>): Room<M> {
    const { memory } = config;
    const remote = memory.enabled && memory.service !== undefined ? parts.remote?.(config) : undefined;
    return { config, keeper: parts.keep(config, after), remote };
  }

  function leave({ keeper, remote }: Room<M>): Promise<void> {
    const going = Promise.all([keeper.retire(), remote?.close()]).then(() => void leaving.delete(going));
    leaving.add(going);
    return going;
  }

  async function standingOf({ config, keeper, remote }: Room<M>, unreachable: string | undefined): Promise<Standing> {
    const { name, memory } = config;
    if (!memory.enabled) return { name, store: "off" };
    if (remote) {
      const reason = await answerOrReason(remote.probe());
      return reason === undefined ? { name, store: "open" } : { name, store: "unknown", reason };
    }
    const state = keeper.state();
    if (state.store === "closed" && unreachable !== undefined) return { name, store: "unknown", reason: unreachable };
    const held = state.store === "open" ? keeper.held() : undefined;
    const { probe } = parts;
    if (!held || !probe) return { name, ...state };
    const reason = await answerOrReason(held.then(probe));
    return reason === undefined ? { name, ...state } : { name, store: "unknown", reason };
  }

  function settle(roster: Roster): Reloaded {
    const before = rooms;
    const added: string[] = [];
    const changed: string[] = [];
    const now = new Map<string, Room<M>>();
    for (const config of roster) {
      const old = before.get(config.name);
      if (old && JSON.stringify(old.config) === JSON.stringify(config)) {
        now.set(config.name, old);
        continue;
      }
      (old ? changed : added).push(config.name);
      now.set(config.name, open(config, old && leave(old)));
    }
    const gone = [...before.values()].filter(({ config }) => !now.has(config.name));
    for (const room of gone) void leave(room);
    rooms = now;
    return { added, changed, removed: gone.map(({ config }) => config.name) };
  }
  settle(first);

  return {
    get: (butler) => rooms.get(butler),
    all: () => [...rooms.values()],
    roster: () => [...rooms.values()].map(({ config }) => config),
    reload: settle,
    async health() {
      const unreachable = parts.reach && (await answerOrReason(parts.reach()));
      return Promise.all([...rooms.values()].map((room) => standingOf(room, unreachable)));
    },
    async close() {
      await Promise.all([...rooms.values()].map(leave));
      await Promise.all(leaving);
    },
  };
}

/** Undefined when it answered in time. */
async function answerOrReason(asked: Promise<unknown>): Promise<string | undefined> {
  try {
    return (await within(PROBE_MS, asked)) ? undefined : `no answer within ${PROBE_MS / 1000} s`;
  } catch (error) {
    return reasonOf(error);
  }
}
