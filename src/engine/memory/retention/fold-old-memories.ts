/** Folds the events of memories up to a place in the stream, a few memories in one transaction: a killed run has done some of them. */
import { MEMORY_TYPES } from "../../domain/memory-types.ts";
import type { RowJson } from "../../domain/replay.ts";
import { type FoldedMemory, foldMemories } from "../../domain/retention/fold-memories.ts";
import { differing, linksOf, ownEvents, readsOfMemories } from "../../store/history/retention.ts";
import { holdMemories } from "../../store/history/undo.ts";
import type { Memory } from "../memory.ts";
import { type Folding, fold, holdCheckpoints, markOf } from "./checkpoints.ts";

export interface FoldedBatch {
  readonly removed: number;
  /** Memories whose events stay as they are, with the reason. */
  readonly refused: ReadonlyMap<string, string>;
}

export function foldBatch(
  { db }: Pick<Memory, "db">,
  folding: Folding,
  ids: readonly string[],
  unlinks: boolean,
): Promise<FoldedBatch> {
  const { tenant, through } = folding;
  return db.tx(async (sql) => {
    const before = await holdCheckpoints(sql, tenant);
    await holdMemories(sql, tenant, ids);
    const own = await ownEvents(sql, tenant, ids);
    const reads = await readsOfMemories(sql, tenant, ids);
    const links = await linksOf(sql, tenant, ids);
    const linked = new Set([...links.keys()].flatMap((name) => name.split(" ").slice(0, 2)));
    const memories = foldMemories({ through, own, reads, links, unlinks, linked });
    const refused = new Map(memories.flatMap(({ id, refused }) => (refused === undefined ? [] : [[id, refused]])));
    for (const type of MEMORY_TYPES) {
      const some = memories.filter((one) => one.type === type);
      const rows = some.flatMap(({ now }) => (now === undefined ? [] : [now]));
      const gone = some.flatMap(({ id, now }) => (now === undefined ? [id] : []));
      for (const id of await differing(sql, type, rows, gone)) refused.set(id, "its row is not what its events say");
    }
    const done = memories.filter(({ id }) => !refused.has(id));
    const removed = done.flatMap((one) => one.removed);
    const kept = new Map(done.flatMap((one) => [...payloadsOf(folding, one)]));
    if (removed.length + kept.size > 0)
      await fold(
        sql,
        folding,
        before,
        kept,
        removed.map(({ id, event_type, payload }) => ({
          ...{ id, event_type },
          marked: ["folded", "erased", "resealed"].some((mark) => mark in payload),
        })),
      );
    return { removed: removed.length, refused };
  });
}

function payloadsOf(folding: Folding, { kept, removed, events }: FoldedMemory): Map<string, RowJson> {
  const first = [...kept].find(([, payload]) => payload.row !== undefined)?.[0];
  return new Map(
    [...kept].map(([id, payload]) => [
      id,
      { ...payload, folded: markOf(folding, id === first ? events : removed.length) },
    ]),
  );
}
