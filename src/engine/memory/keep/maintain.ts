/** Maintenance in quiet moments. Skipping it costs speed, never correctness; each step is short, so that calls run in between. */
import { foldShelf, shelvesToFold } from "../../store/index/fold.ts";
import { addLongLists } from "../../store/index/long-lists.ts";
import { dropStaleKeys } from "../../store/jobs/upkeep.ts";
import { dropOldChanges } from "../../store/read-model/changes.ts";
import { CALL_KEY_PREFIX } from "../call-key.ts";
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
}

export async function maintain(given: Memory, options: MaintainOptions): Promise<void> {
  const memory = wholeMemory(given, "upkeep");
  const { db, clock } = memory;
  const stop = options.interrupted ?? (() => false);
  const steps = [
    () => foldAll(memory, stop),
    () => (options.level === "full" ? addLongLists(db, undefined, stop) : undefined),
    () => embedMissing(memory, stop),
    () => fitServing(memory),
    () => dropStaleKeys(db, new Date(clock.now().getTime() - KEPT_KEYS_MS), CALL_KEY_PREFIX),
    // Only a server has any.
    () => (db.kind === "postgres" ? dropOldChanges(db) : undefined),
    async () => db.maintain?.(options.level),
  ];
  for (const step of steps) {
    if (stop()) return;
    await step();
  }
}

/** A failure here must not keep the steps that follow from running: without their statistics the store would be slower by far. */
async function fitServing(memory: Memory): Promise<void> {
  const { serving } = memory.versions;
  try {
    if (serving) await fitIndex(memory, serving);
  } catch (error) {
    memory.log.error(
      { err: error },
      "the vector index could not be built; search compares more vectors than it should",
    );
  }
}

async function foldAll(memory: Memory, stop: () => boolean): Promise<void> {
  for (const shelf of await shelvesToFold(memory.db)) {
    for (;;) {
      if (stop()) return;
      const { folded, removed } = await foldShelf(memory.db, shelf.sk);
      if (folded + removed === 0) break;
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
