/** One event in place of all events of a memory up to a place in the stream. Replay, `as_of` and undo go on from it. */
import { groupBy } from "../collections/group-by.ts";
import type { MemoryType } from "../memory-types.ts";
import { isRecord } from "../record.ts";
import { applyEvent, emptyLedger, isBirth, type ReplayEvent, type RowJson } from "../replay.ts";
import { isUndo, type LinkKey, linkName, linksIn, type PastEvent } from "../undo/chronicle.ts";

export type OwnEvent = ReplayEvent & PastEvent;

export interface FoldInput {
  readonly through: string;
  /** All events of these memories, later ones too, and what was read of them; each in the order of the stream. */
  readonly own: readonly OwnEvent[];
  readonly reads: readonly ReplayEvent[];
  /** Links that are stored, by name, with the moment at which each was made. */
  readonly links: ReadonlyMap<string, Date>;
  /** Whether some event of the tenant has ever taken links away. */
  readonly unlinks: boolean;
  /** Deleted memories that links still name: the weekly check asks why such a link leads nowhere. */
  readonly linked: ReadonlySet<string>;
}

export interface FoldedMemory {
  readonly id: string;
  readonly type: MemoryType;
  /** By id of the events that stay: their new payload, without its mark. */
  readonly kept: ReadonlyMap<string, RowJson>;
  readonly removed: readonly OwnEvent[];
  /** How many events the first one stands for, itself included. */
  readonly events: number;
  /** The row when all later events have been applied too; undefined when the memory is gone. It must be the stored one. */
  readonly now: RowJson | undefined;
  /** Why the events must stay as they are. */
  readonly refused: string | undefined;
}

const until = (through: bigint) => (event: { readonly seq: string }) => BigInt(event.seq) <= through;

export function foldMemories(input: FoldInput): FoldedMemory[] {
  const inside = until(BigInt(input.through));
  const all = [...input.own, ...input.reads].toSorted((a, b) => (BigInt(a.seq) < BigInt(b.seq) ? -1 : 1));
  const ledger = emptyLedger();
  for (const event of all.filter(inside)) applyEvent(ledger, event);
  const rows = new Map<string, RowJson>();
  for (const type of ["episode", "fact", "rule"] as const)
    for (const [id, row] of ledger.memories[type]) rows.set(id, structuredClone(row));
  const meetings = groupBy(
    [...ledger.meetings.values()].map((one) => ({ ...one })),
    (one) => one.episode_id,
  );
  const marks = groupBy(structuredClone(ledger.applications), (mark) => String(mark.rule_id));
  for (const event of all.filter((one) => !inside(one))) applyEvent(ledger, event);
  return [...groupBy(input.own, ({ entity_id }) => entity_id)].flatMap(([id, events]): FoldedMemory[] => {
    const [first] = events;
    if (first === undefined) return [];
    const now = ledger.memories[first.entity_type].get(id);
    const old = events.filter(inside);
    const row = rows.get(id);
    const kept = row === undefined ? ending(old, input) : beginning(old, row, input);
    const birth = old.find(isBirth);
    if (birth !== undefined && row !== undefined)
      Object.assign(kept.get(birth.id) ?? {}, {
        ...(meetings.has(id)
          ? { meetings: meetings.get(id)?.map(({ session_id, day, n }) => ({ session_id, day, n })) }
          : {}),
        ...(marks.has(id) ? { applications: marks.get(id) } : {}),
      });
    const removed = old.filter((event) => !kept.has(event.id));
    const stoodFor = birth !== undefined && isRecord(birth.payload.folded) ? Number(birth.payload.folded.events) : 1;
    return [
      {
        ...{ id, type: first.entity_type, kept, removed, now, events: stoodFor + old.length - 1 },
        refused: refusalOf(events, ledger.orphans, inside),
      },
    ];
  });
}

/** An undo names the events that it took back: they stay until it is as old itself, and as long as a memory may still come back by it. */
function refusalOf(events: readonly OwnEvent[], orphans: readonly string[], inside: (event: OwnEvent) => boolean) {
  if (events.some((event) => isUndo(event) && (!inside(event) || typeof event.payload.blocked_by === "string")))
    return "an undo of it is kept";
  const first = events[0];
  return orphans.some((orphan) => orphan.includes(String(first?.entity_id))) ? "its stream has a hole" : undefined;
}

/** A memory that is there: its first event has the row of then. */
function beginning(old: readonly OwnEvent[], row: RowJson, input: FoldInput): Map<string, RowJson> {
  const kept = unlinking(old);
  const birth = old.find(isBirth);
  if (birth === undefined) return kept;
  const { links: _, applications: __, meetings: ___, folded: ____, ...rest } = birth.payload;
  kept.set(birth.id, { ...rest, ...kept.get(birth.id), row });
  const links = standing(old, input.links);
  if (links.length === 0) return kept;
  // Where links were taken away, a link that was told again after that must stay behind it.
  const teller = input.unlinks ? old.findLast((event) => linksIn(event).length > 0) : undefined;
  const carrier = teller?.id ?? birth.id;
  kept.set(carrier, { ...kept.get(carrier), links });
  return kept;
}

/** A memory that is gone. */
function ending(old: readonly OwnEvent[], input: FoldInput): Map<string, RowJson> {
  const kept = unlinking(old);
  const end = old.findLast((event) => event.event_type === `${event.entity_type}.deleted`);
  if (end !== undefined && input.linked.has(end.entity_id)) kept.set(end.id, { ...kept.get(end.id) });
  const links = standing(old, input.links);
  const teller = old.findLast((event) => linksIn(event).length > 0);
  if (links.length > 0 && teller !== undefined) kept.set(teller.id, { ...kept.get(teller.id), links });
  return kept;
}

/** Events that took links away keep that, at their place. */
const unlinking = (old: readonly OwnEvent[]): Map<string, RowJson> =>
  new Map(
    old.flatMap(({ id, payload }) =>
      Array.isArray(payload.unlinked) && payload.unlinked.length > 0 ? [[id, { unlinked: payload.unlinked }]] : [],
    ),
  );

/** Of the links that these events told, those that are stored as they were told. */
function standing(old: readonly OwnEvent[], stored: ReadonlyMap<string, Date>): (RowJson & LinkKey)[] {
  const told = old.flatMap((event) => linksIn(event));
  const same = told.filter(
    (link) => stored.get(linkName(link))?.getTime() === new Date(String(link.created_at)).getTime(),
  );
  return [...new Map(same.map((link) => [linkName(link), link])).values()];
}
