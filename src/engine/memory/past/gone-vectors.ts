/**
 * Vectors of memories that have left the read model since: superseded, forgotten, expired. They are still in the store, and a search of the
 * past compares them like the others. Only beside a read model, which tells what it does not hold.
 */

import { withRoom } from "../../domain/collections/with-room.ts";
import type { Line, Timeline } from "../../domain/past/timeline.ts";
import type { ReadModel } from "../../domain/read-model/model.ts";
import { openVectors, type Vectors } from "../../domain/read-model/vectors.ts";
import { vectorsHeld } from "../../store/history/timeline.ts";
import type { Call } from "../memory.ts";

const PAGE = 1_000;
/** A search that has waited so many times for what was written meanwhile asks the store. */
const MOST_ROUNDS = 5;
/** Of more that were changed since somebody asked last, everything is looked at anew: an owner that runs for months would keep the ids of them all. */
const MOST_CHANGED = 20_000;

export interface GoneVectors {
  /** These were changed in the store. */
  tell(ids: readonly string[]): void;
  /** The read model, and beside it what it lacks, both of one moment; undefined where there is no model. */
  caughtUp(call: Call, timeline: Timeline, version: number): Promise<AllVectors | undefined>;
}

/** Where the vector of a memory is: in one of the two. */
export interface AllVectors {
  readonly model: ReadModel;
  /** By number of the line: its slot in the model, or −1. */
  readonly slots: Int32Array;
  /** By number of the line. */
  readonly gone: Vectors;
}

interface HeldVectors {
  readonly version: number;
  readonly model: ReadModel;
  readonly vectors: Vectors;
  slots: Int32Array;
  looked: number;
  done: boolean;
}

export function openGoneVectors(): GoneVectors {
  let held: HeldVectors | undefined;
  /** Told, and not seen by the model yet as far as we know. */
  let changed = new Set<string>();
  /** Seen by the model, and not looked at here. */
  const seen = new Set<string>();
  /** Too many were changed to know them one by one. */
  let tooMany = false;
  /** One reader at a time: what it reads is not held yet. */
  let busy: Promise<unknown> = Promise.resolve();

  /** Of memories that the timeline has come to know since, and of those that were changed. */
  const readAnew = async (call: Call, timeline: Timeline, model: ReadModel, version: number): Promise<void> => {
    // What was interrupted half way is begun anew, as beside another model, whose slots are others.
    if (held?.version !== version || held.model !== model || !held.done)
      held = { version, model, vectors: openVectors(), slots: new Int32Array(0), looked: 0, done: true };
    const { vectors } = held;
    held.done = false;
    const lines = [[...seen].flatMap((id) => timeline.lineOf(id) ?? []), timeline.lines.slice(held.looked)].flat();
    seen.clear();
    held.looked = timeline.lines.length;
    held.slots = grown(held.slots, held.looked);
    const lacking: Line[] = [];
    for (const line of lines) {
      const slot = slotIn(model, line.id);
      held.slots[line.nth] = slot;
      vectors.drop(line.nth);
      if (slot < 0) lacking.push(line);
    }
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
  const catchUp = async (
    call: Call,
    timeline: Timeline,
    version: number,
  ): Promise<AllVectors | "again" | undefined> => {
    if (tooMany) {
      held = undefined;
      seen.clear();
      tooMany = false;
    }
    for (const id of changed) seen.add(id);
    changed = new Set();
    // A server does not tell what was changed here: it compares the vectors of the past itself.
    if (call.memory.db.kind === "postgres") return undefined;
    const model = await call.memory.readModel.caughtUp(version, call.caller.tenant);
    if (model === undefined) return undefined;
    const isSame = held?.version === version && held.model === model && held.done;
    if (!isSame || seen.size > 0 || held?.looked !== timeline.lines.length)
      await readAnew(call, timeline, model, version);
    if (held === undefined || changed.size > 0 || tooMany) return "again";
    return { model, slots: held.slots, gone: held.vectors };
  };

  return {
    tell(ids) {
      if (held === undefined || tooMany) return;
      for (const id of ids) changed.add(id);
      if (changed.size <= MOST_CHANGED) return;
      changed = new Set();
      tooMany = true;
    },
    async caughtUp(call, timeline, version) {
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const turn = busy.then(() => catchUp(call, timeline, version));
        busy = turn.catch(() => undefined);
        const all = await turn;
        if (all !== "again") return all;
      }
      return undefined;
    },
  };
}

/** A slot without a vector is none. */
function slotIn(model: ReadModel, id: string): number {
  const slot = model.slotOf(id);
  return slot !== undefined && model.vectors.has(slot) ? slot : -1;
}

function grown(slots: Int32Array, size: number): Int32Array {
  if (size <= slots.length) return slots;
  return withRoom(new Int32Array(Math.ceil(size * 1.25)).fill(-1), slots);
}
