/**
 * Maintenance in quiet moments. Skipping it costs speed, never correctness; each step is short, so that calls run in between. Where none came, it
 * runs beside calls, and pauses after each step for as long as learning does.
 */
import { foldShelf, shelvesToFold } from "../../store/index/fold.ts";
import { addLongLists } from "../../store/index/long-lists.ts";
import { dropStaleKeys } from "../../store/jobs/upkeep.ts";
import { dropOldChanges } from "../../store/read-model/changes.ts";
import { CALL_KEY_PREFIX } from "../call-key.ts";
import { giveWay } from "../learn/give-way.ts";
import type { Memory } from "../memory.ts";
import { wholeMemory } from "../tenancy.ts";
import { rebuildVectors } from "./reembed.ts";
import { fitIndex } from "./vector-index.ts";

/** How long the answers to a proxy's calls are kept for a retry. */
export const KEPT_KEYS_MS = 86_400_000;

export interface MaintainOptions {
  /** `full` also vacuums an embedded store; a server does that by itself. */
  readonly level: "light" | "full";
  /** True when a call is waiting: maintenance stops after the current step. */
  readonly interrupted?: () => boolean;
  /** No quiet moment came for long: calls go on meanwhile. What would hold up an embedded store for seconds waits for a quiet or a full one. */
  readonly beside?: boolean;
}

export async function maintain(given: Memory, options: MaintainOptions): Promise<void> {
  const memory = wholeMemory(given, "upkeep");
  const { db, clock } = memory;
  const stop = options.interrupted ?? (() => false);
  const turn = turns(memory, stop);
  const mayBuild = !options.beside || options.level === "full" || db.kind === "postgres";
  const steps = [
    () => foldAll(memory, stop, turn),
    () => (options.level === "full" ? addLongLists(db, undefined, stop) : undefined),
    () => embedMissing(memory, stop),
    () => fitServing(memory, mayBuild),
    () => dropStaleKeys(db, new Date(clock.now().getTime() - KEPT_KEYS_MS), CALL_KEY_PREFIX),
    // Only a server has any.
    () => (db.kind === "postgres" ? dropOldChanges(db) : undefined),
    async () => db.maintain?.(options.level, turn),
  ];
  for (const step of steps) {
    if (stop()) return;
    await step();
    await turn();
  }
}

/** After a step that took the store from calls, they have it to themselves for a while. */
function turns(memory: Memory, stop: () => boolean): () => Promise<void> {
  let [calls, started] = [memory.traffic.calls, performance.now()];
  return async () => {
    await giveWay(memory, { calls, tookMs: performance.now() - started, oldest: undefined }, stop);
    [calls, started] = [memory.traffic.calls, performance.now()];
  };
}

/** A failure here must not keep the steps that follow from running: without their statistics the store would be slower by far. */
async function fitServing(memory: Memory, mayBuild: boolean): Promise<void> {
  const { serving } = memory.versions;
  try {
    if (serving) await fitIndex(memory, serving, mayBuild);
  } catch (error) {
    memory.log.error(
      { err: error },
      "the vector index could not be built; search compares more vectors than it should",
    );
  }
}

async function foldAll(memory: Memory, stop: () => boolean, turn: () => Promise<void>): Promise<void> {
  for (const shelf of await shelvesToFold(memory.db)) {
    for (;;) {
      if (stop()) return;
      const { folded, removed } = await foldShelf(memory.db, shelf.sk);
      if (folded + removed === 0) break;
      await turn();
    }
    memory.unfolded.delete(shelf.sk);
  }
}

/** Embeds what was stored without a model, and after a change of model everything. */
async function embedMissing(memory: Memory, stop: () => boolean): Promise<void> {
  try {
    await rebuildVectors(memory, { now: memory.clock.now(), stop });
  } catch (error) {
    memory.log.warn({ err: error }, "embedding what lacks a vector failed; the next upkeep tries again");
  }
}
