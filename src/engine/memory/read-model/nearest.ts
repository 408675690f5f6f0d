/** The vector arm of a search from memory, and the place of one memory in it: what engine/store/index/search.ts and why.ts say in SQL. */
import type { ReadModel } from "../../domain/read-model/model.ts";
import type { ReadRow } from "../../domain/read-model/rows.ts";
import type { Filters, VectorArm } from "../../store/index/search.ts";
import type { VectorRank } from "../../store/index/why.ts";

export const matches = (row: ReadRow, { tags, tier }: Filters): boolean =>
  (tier === undefined || row.tier === tier) && (tags ?? []).every((tag) => row.tags.includes(tag));

interface Seen {
  of(slot: number): boolean;
  /** All of these shelves. */
  on(sks: readonly number[]): Int32Array;
}

/** What the arm may return. */
function seenBy(
  { vectors, lookups, rowAt, tierOf }: ReadModel,
  tenant: string,
  { faded }: VectorArm,
  filters: Filters,
): Seen {
  const now = filters.now.getTime();
  const { tags, tier, exceptSession: session } = filters;
  const of = (slot: number): boolean => {
    if (!vectors.isSeen(slot, now, faded)) return false;
    if (tags === undefined && tier === undefined && session === undefined) return true;
    // All of a shelf are asked for their tier: a view of each row would be thrown away again.
    if (tier !== undefined && tierOf(slot) !== tier) return false;
    const row = rowAt(slot);
    return row !== undefined && matches(row, filters) && (session === undefined || row.session_id !== session);
  };
  return {
    of,
    on(sks) {
      if (tags?.[0] !== undefined) return among(lookups.tagged(tenant, tags[0]), sks, vectors.shelfOf, of);
      if (tier !== undefined) return vectors.among(sks, of);
      // Looking at the row of each of 10,000 vectors took 1.5 ms of every prompt, which leaves out what its own session said.
      if (session === undefined) return vectors.seen(sks, now, faded);
      return lookups.outside(tenant, session, vectors.seen(sks, now, faded, true));
    },
  };
}

function among(
  slots: Iterable<number>,
  sks: readonly number[],
  shelfOf: (slot: number) => number | undefined,
  wanted: (slot: number) => boolean,
): Int32Array {
  const shelves = new Set(sks);
  const found: number[] = [];
  for (const slot of slots) if (shelves.has(shelfOf(slot) ?? -1) && wanted(slot)) found.push(slot);
  return Int32Array.from(found);
}

export function nearest(
  model: ReadModel,
  tenant: string,
  arm: VectorArm,
  filters: Filters,
): { readonly slot: number; readonly distance: number }[] {
  if (arm.groups.length === 0) return [];
  const { vectors, lookups } = model;
  const seen = seenBy(model, tenant, arm, filters);
  const query = vectors.queryOf(arm.query);
  const found = new Map<number, number>();
  for (const { sks, limit } of arm.groups)
    for (const { slot, distance } of vectors.nearest(query, seen.on(sks), limit)) found.set(slot, distance);
  if (arm.theirs !== undefined) {
    const sks = arm.groups.flatMap((group) => group.sks);
    const own = among(lookups.saidBy(tenant, arm.theirs.names), sks, vectors.shelfOf, seen.of);
    for (const { slot, distance } of vectors.nearest(query, own, arm.theirs.limit)) found.set(slot, distance);
  }
  const near: { readonly slot: number; readonly distance: number }[] = [];
  found.forEach((distance, slot) => {
    near.push({ slot, distance });
  });
  return near;
}

/** Comparing with so many takes about 7 ms; of more, every second, third … is compared with. */
const COMPARED = 20_000;

export function placeByMeaning(
  model: ReadModel,
  tenant: string,
  id: string,
  arm: VectorArm,
  sks: readonly number[],
  filters: Filters,
): VectorRank | undefined {
  const { vectors } = model;
  const slot = model.slotOf(id);
  if (slot === undefined || !sks.includes(vectors.shelfOf(slot) ?? -1)) return undefined;
  const seen = seenBy(model, tenant, arm, filters);
  const query = vectors.queryOf(arm.query);
  const [distance = 0] = vectors.distances(query, Int32Array.of(slot));
  const all = seen.on(sks);
  const step = Math.ceil(all.length / COMPARED);
  const compared = step <= 1 ? all : all.filter((_, i) => i % step === 0);
  const nearer = vectors.distances(query, compared).reduce((n, far) => (far < distance ? n + 1 : n), 0);
  const share = compared.length / Math.max(1, all.length);
  return {
    distance,
    seen: seen.of(slot),
    nearer: Math.round(nearer / (share || 1)),
    of: all.length,
    estimated: step > 1,
  };
}
