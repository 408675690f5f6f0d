/**
 * Everything that ranking reads, in arrays of this process. A memory has a slot; its row, words and vector are filed by it. What is put in
 * was read from the store in one statement, and replaces whatever was known of that memory: the model can always be made anew.
 */
import type { Held } from "../fact.ts";
import { isLive } from "../lifecycle/lifecycle.ts";
import { newRetelling, type Retelling } from "../ranking/retelling.ts";
import { type Told, told as toldBy } from "../ranking/told-times.ts";
import { isSealed } from "../sealed.ts";
import type { Sums } from "./halves.ts";
import { type Lookups, openLookups } from "./lookups.ts";
import { openRowTable } from "./row-table.ts";
import type { ReadCounts, ReadLink, ReadMemory, ReadRow } from "./rows.ts";
import { openVectors, type Vectors } from "./vectors.ts";
import { MOST_SLOTS, openWords, type Words } from "./words.ts";

export interface ReadModel {
  readonly words: Words;
  readonly vectors: Vectors;
  readonly lookups: Lookups;
  slotOf(id: string): number | undefined;
  idOf(slot: number): string;
  /** A view of the row as it is, good until the memory changes. */
  rowAt(slot: number): ReadRow | undefined;
  /** As its row has it. */
  tierOf(slot: number): ReadRow["tier"];
  /** What a search sees in the words of an episode whatever is asked: read once. */
  toldOf(slot: number): Told;
  /** What a block tells of it, filled in by whoever makes blocks; undefined where its text is encrypted. */
  retellingOf(slot: number): Retelling | undefined;
  /** Whether any memory is encrypted. */
  holdsSealed(): boolean;
  /** Where a fact or rule was learned. */
  linksOf(slot: number): readonly ReadLink[];
  apply(memories: readonly ReadMemory[]): void;
  /** Another object whenever memories were taken in; how often something was read does not count. */
  revision(): object;
  /** Of a memory that is not known (any more) nothing is taken: it is read whole when it is told. */
  applyCounts(counts: readonly ReadCounts[]): void;
  size(): number;
}

/**
 * Of twice so many memories it is kept what a block tells of them, some hundred bytes each: those that were asked for last. Forgetting all at once
 * made every block of the next seconds dear.
 */
const MOST_RETOLD = 16_384;

/** `sums`: as the store makes them that it is read from. */
export function openReadModel(sums: Sums = "in order"): ReadModel {
  const slots = new Map<string, number>();
  const ids: string[] = [];
  // By slot, and not all slots have one: an episode was learned nowhere, and most of what is stored is not asked for.
  const links = new Map<number, readonly ReadLink[]>();
  const told = new Map<number, Told>();
  let retold = new Map<number, Retelling>();
  /** As many as were kept before these. What is asked for again moves on. */
  let retoldBefore = new Map<number, Retelling>();
  let sealed = 0;
  let revision: object = {};
  const free: number[] = [];
  const idOf = (slot: number) => ids[slot] as string;
  const rows = openRowTable(idOf);
  const words = openWords(idOf, (id) => slots.get(id));
  const vectors = openVectors(sums);
  const lookups = openLookups();

  const slotFor = (id: string): number => {
    const known = slots.get(id);
    if (known !== undefined) return known;
    const slot = free.pop() ?? ids.length;
    if (slot >= MOST_SLOTS) throw new RangeError(`more than ${MOST_SLOTS} memories`);
    ids[slot] = id;
    slots.set(id, slot);
    return slot;
  };
  const putRow = (slot: number, row: ReadRow | undefined) => {
    const before = rows.at(slot);
    if (before !== undefined) lookups.drop(slot, before);
    if (before !== undefined && isSealed(before.content)) sealed -= 1;
    if (row !== undefined && isSealed(row.content)) sealed += 1;
    if (before?.content !== row?.content) told.delete(slot);
    retold.delete(slot);
    retoldBefore.delete(slot);
    if (row === undefined) return rows.drop(slot);
    rows.put(slot, row);
    lookups.put(slot, row);
  };

  return {
    words,
    vectors,
    lookups,
    slotOf: (id) => slots.get(id),
    idOf,
    rowAt: rows.at,
    tierOf: rows.tierOf,
    toldOf(slot) {
      const known = told.get(slot);
      if (known !== undefined) return known;
      const made = toldBy(rows.at(slot)?.content ?? "");
      told.set(slot, made);
      return made;
    },
    retellingOf(slot) {
      const known = retold.get(slot);
      if (known !== undefined) return known;
      const row = rows.at(slot);
      if (row === undefined || isSealed(row.content)) return undefined;
      if (retold.size === MOST_RETOLD) {
        retoldBefore = retold;
        retold = new Map();
      }
      const made = retoldBefore.get(slot) ?? newRetelling();
      retold.set(slot, made);
      return made;
    },
    holdsSealed: () => sealed > 0,
    linksOf: (slot) => links.get(slot) ?? NO_LINKS,
    revision: () => revision,
    apply(memories) {
      if (memories.length > 0) revision = {};
      for (const memory of memories) {
        const { id, row, words: said, vector } = memory;
        if (row === undefined && said === undefined && !slots.has(id)) continue;
        const slot = slotFor(id);
        putRow(slot, row);
        if (said === undefined) words.drop(slot);
        else words.put(slot, said);
        if (vector === undefined || row === undefined) vectors.drop(slot);
        else vectors.put(slot, vector, liveUntil(row));
        if (memory.links.length === 0) links.delete(slot);
        else links.set(slot, memory.links);
        if (row !== undefined || said !== undefined) continue;
        slots.delete(id);
        free.push(slot);
      }
    },
    applyCounts(counts) {
      for (const counted of counts) {
        const { id, visibleUntil } = counted;
        const slot = slots.get(id);
        const row = slot === undefined ? undefined : rows.at(slot);
        if (slot === undefined || row === undefined) continue;
        rows.count(slot, counted);
        if (vectors.has(slot)) vectors.see(slot, visibleUntil, liveUntil(row));
      }
    },
    size: () => slots.size,
  };
}

/** Facts and rules end by their state, episodes by their day too. */
function liveUntil({ type, state, expires_at }: ReadRow): number {
  if (type !== "episode") return isLive(state) ? Number.POSITIVE_INFINITY : 0;
  return state === "active" ? (expires_at ?? 0) : 0;
}

const NO_LINKS: readonly ReadLink[] = [];

export const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

/** What decides which of several facts of one key is told. */
export const heldOf = (row: ReadRow): Held => ({
  id: row.id,
  scope: row.scope,
  trust: row.trust,
  confidence: row.confidence,
  decay_rate: row.decay_rate,
  last_confirmed_at: new Date(row.last_confirmed_at),
  valid_to: dateOf(row.valid_to),
  waits_until: dateOf(row.waits_until),
});
