/**
 * Vectors of memories that have left the read model since: superseded, forgotten, expired. They are still in the store, and a search of the
 * past compares them like the others. Only beside a read model, which tells what it does not hold.
 */

import type { Timeline } from "../../domain/past/timeline.ts";
import type { ReadModel } from "../../domain/read-model/model.ts";
import { openVectors, type Vectors } from "../../domain/read-model/vectors.ts";
import { vectorsHeld } from "../../store/history/timeline.ts";
import type { Call } from "../memory.ts";

const PAGE = 1_000;
/** A search that has waited so many times for what was written meanwhile asks the store. */
const MOST_ROUNDS = 5;

export interface GoneVectors {
  /** These were changed in the store. */
  tell(ids: readonly string[]): void;
  /** The read model, and beside it what it lacks, both of one moment; undefined where there is no model. */
  caughtUp(call: Call, timeline: Timeline, version: number): Promise<AllVectors | undefined>;
}

/** Where the vector of a memory is: in one of the two, by its slot. */
export interface AllVectors {
  readonly model: ReadModel;
  readonly gone: Vectors;
}

export function openGoneVectors(): GoneVectors {
  let held: { readonly version: number; readonly vectors: Vectors; looked: number; done: boolean } | undefined;
  const changed = new Set<string>();
  /** One reader at a time: what it reads is not held yet. */
  let busy: Promise<unknown> = Promise.resolve();

  /** Of memories that the timeline has come to know since, and of those that were changed. */
  const readAnew = async (call: Call, timeline: Timeline, model: ReadModel, version: number): Promise<void> => {
    // What was interrupted half way is begun anew.
    if (held?.version !== version || !held.done) held = { version, vectors: openVectors(), looked: 0, done: true };
    const { vectors } = held;
    held.done = false;
    const lines = [...changed].flatMap((id) => timeline.lineOf(id) ?? []);
    lines.push(...timeline.lines.slice(held.looked));
    changed.clear();
    held.looked = timeline.lines.length;
    const lacking = lines.filter(({ id }) => !isIn(model, id));
    for (const { nth } of lines) vectors.drop(nth);
    for (let at = 0; at < lacking.length; at += PAGE) {
      const ids = lacking.slice(at, at + PAGE).map(({ id }) => id);
      for (const { id, halves } of await vectorsHeld(call.memory.db, ids, version)) {
        const line = timeline.lineOf(id);
        if (line !== undefined)
          vectors.put(line.nth, { sk: 0, visibleUntil: 0, halves, pieces: 0, tokens: undefined }, 0);
      }
    }
    held.done = true;
  };

  return {
    tell(ids) {
      if (held !== undefined) for (const id of ids) changed.add(id);
    },
    async caughtUp(call, timeline, version) {
      for (let round = 0; round < MOST_ROUNDS; round++) {
        await busy;
        const model = await call.memory.readModel.caughtUp(version);
        if (model === undefined) return undefined;
        if (held?.version === version && held.done && changed.size === 0 && held.looked === timeline.lines.length)
          return { model, gone: held.vectors };
        const turn = busy.then(() => readAnew(call, timeline, model, version));
        busy = turn.catch(() => undefined);
        await turn;
      }
      return undefined;
    },
  };
}

const isIn = (model: ReadModel, id: string): boolean => {
  const slot = model.slotOf(id);
  return slot !== undefined && model.vectors.has(slot);
};
