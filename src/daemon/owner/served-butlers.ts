/** The butlers that an owner serves, each with its store here or its connection to a shared one. The roster may change while they are served. */

import type { Health } from "../../doors/backend.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ButlerConfig } from "../config/config.ts";
import { within } from "../pause.ts";
import type { Roster } from "../roster/roster.ts";
import type { RemoteMemory } from "./remote-memory.ts";
import type { StoreKeeper } from "./store-keeper.ts";

export interface ServedButler {
  readonly config: ButlerConfig;
  readonly keeper: StoreKeeper<Engine>;
  /** Present when the memory is kept by a shared Memory Butler elsewhere. */
  readonly remote: RemoteMemory | undefined;
}

export interface ServeParts {
  /** `after`: the butler's former store, which must be closed before this one opens. */
  keep(config: ButlerConfig, after: Promise<void> | undefined): StoreKeeper<Engine>;
  remote?: ((config: ButlerConfig) => RemoteMemory) | undefined;
  /** Fails when the database server of closed stores cannot be reached. */
  reach?: (() => Promise<void>) | undefined;
}

export interface Reloaded {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** In the order of the roster; a butler whose configuration changes is replaced by another of the same name. */
export interface ServedButlers {
  readonly parts: ServeParts;
  byName: ReadonlyMap<string, ServedButler>;
  /** Butlers that were removed or changed, until their stores are closed. */
  readonly retiring: Set<Promise<void>>;
}

type ButlerHealth = Health["butlers"][number];

/** A question for health waits no longer than this for a store that does not answer. */
const PING_MS = 1_500;

/** Serves none yet: `serveRoster` adds them. */
export const servedButlers = (parts: ServeParts): ServedButlers => ({ parts, byName: new Map(), retiring: new Set() });

export const rosterOf = ({ byName }: ServedButlers): Roster => [...byName.values()].map(({ config }) => config);

/** The stores of butlers that did not change stay open; the others get their new settings with the next call. */
export function serveRoster(served: ServedButlers, roster: Roster): Reloaded {
  const before = served.byName;
  const added: string[] = [];
  const changed: string[] = [];
  const now = new Map<string, ServedButler>();
  for (const config of roster) {
    const old = before.get(config.name);
    if (old && JSON.stringify(old.config) === JSON.stringify(config)) {
      now.set(config.name, old);
      continue;
    }
    (old ? changed : added).push(config.name);
    now.set(config.name, serve(served.parts, config, old && retire(served, old)));
  }
  const gone = [...before.values()].filter(({ config }) => !now.has(config.name));
  for (const butler of gone) void retire(served, butler);
  served.byName = now;
  return { added, changed, removed: gone.map(({ config }) => config.name) };
}

function serve(parts: ServeParts, config: ButlerConfig, after?: Promise<void>): ServedButler {
  const { memory } = config;
  const remote = memory.enabled && memory.service !== undefined ? parts.remote?.(config) : undefined;
  return { config, keeper: parts.keep(config, after), remote };
}

function retire({ retiring }: ServedButlers, { keeper, remote }: ServedButler): Promise<void> {
  const going = Promise.all([keeper.retire(), remote?.close()]).then(() => void retiring.delete(going));
  retiring.add(going);
  return going;
}

export async function healthOf({ parts, byName }: ServedButlers): Promise<Health["butlers"]> {
  // Asked once for all that are closed, beside the questions to those that are open.
  const unreachable = parts.reach && answerOrReason(parts.reach());
  return Promise.all([...byName.values()].map((butler) => healthOfOne(butler, unreachable)));
}

async function healthOfOne(
  { config, keeper, remote }: ServedButler,
  unreachable: Promise<string | undefined> | undefined,
): Promise<ButlerHealth> {
  const { name, memory } = config;
  if (!memory.enabled) return { name, store: "off" };
  if (remote) {
    const reason = await answerOrReason(remote.probe());
    return reason === undefined ? { name, store: "open" } : { name, store: "unknown", reason };
  }
  const state = keeper.state();
  const why = state.store === "closed" ? await unreachable : undefined;
  if (why !== undefined) return { name, store: "unknown", reason: why };
  const held = state.store === "open" ? keeper.held() : undefined;
  if (!held) return { name, ...state };
  const reason = await answerOrReason(held.then((engine) => engine.ping()));
  return reason === undefined ? { name, ...state } : { name, store: "unknown", reason };
}

/** The reason why there was no answer in time; undefined when there was one. */
async function answerOrReason(asked: Promise<unknown>): Promise<string | undefined> {
  try {
    return (await within(PING_MS, asked)) ? undefined : `no answer within ${PING_MS / 1000} s`;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Resolves when every store is closed. */
export async function closeAll(served: ServedButlers): Promise<void> {
  await Promise.all([...served.byName.values()].map((butler) => retire(served, butler)));
  await Promise.all(served.retiring);
}
