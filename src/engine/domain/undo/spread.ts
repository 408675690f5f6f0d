/** Which events go with those of a cause: what came of a memory goes when the memory goes, unless somebody else stands up for it. */
import { isRecord } from "../record.ts";
import {
  type Chronicle,
  type EventIds,
  givesLife,
  isBirthOf,
  isReversed,
  isUndo,
  isVouching,
  kindOf,
  linksIn,
  type PastEvent,
  takenBack,
  undoneIn,
} from "./chronicle.ts";

export interface Kept {
  readonly event: PastEvent;
  /** The event of another cause that keeps it, or the memory that stays. */
  readonly because:
    | { readonly event: PastEvent }
    | { readonly memory: string }
    | { readonly sources: readonly string[] };
}

export interface Spread {
  /** The events to be taken back. */
  readonly events: ReadonlyMap<string, PastEvent>;
  /** Memories that go altogether. */
  readonly gone: ReadonlySet<string>;
  /** Of an event that goes because a memory goes: that memory. */
  readonly because: ReadonlyMap<string, string>;
  readonly kept: readonly Kept[];
}

/** `caused`: the events of the cause itself. Those that were taken back before are no part of the answer. */
export function spread(chronicles: readonly Chronicle[], caused: EventIds): Spread {
  const living = chronicles.map((one) => concerned(one, caused));
  const kept = new Map<string, Kept>();
  // What is kept makes others stay in turn; nothing that was kept goes after all, so that this ends.
  for (;;) {
    const grown = grow(living, caused, kept);
    const found = living.flatMap((events) => vouchedFor(events, grown.events));
    const orphaned = [...grown.events.values()].flatMap((event) => causeStays(event, grown.gone, living));
    const fresh = [...found, ...orphaned].filter(({ event }) => !kept.has(event.id));
    if (fresh.length === 0) return { ...grown, kept: [...kept.values(), ...partly(living, grown)] };
    for (const one of fresh) kept.set(one.event.id, one);
  }
}

/** Events in effect, and those of the cause that would be in effect again because an undo of the same cause is taken back. */
function concerned({ events }: Chronicle, caused: EventIds): readonly PastEvent[] {
  const back = takenBack(events);
  const again = new Set(events.filter(({ id }) => caused.has(id)).flatMap(undoneIn));
  return events.filter(({ id }) => !back.has(id) || (caused.has(id) && again.has(id)));
}

function grow(living: readonly (readonly PastEvent[])[], caused: EventIds, kept: ReadonlyMap<string, Kept>) {
  const events = new Map<string, PastEvent>();
  const gone = new Set<string>();
  const because = new Map<string, string>();
  const candidates = living.flat().filter((event) => isReversed(event) && !kept.has(event.id));
  for (let before = -1; events.size > before; ) {
    before = events.size;
    for (const event of candidates) {
      if (events.has(event.id)) continue;
      if (!caused.has(event.id) && cameOf(event, gone, living, events) === undefined) continue;
      events.set(event.id, event);
      if (isBirthOf(event)) gone.add(event.entity_id);
    }
  }
  for (const event of events.values()) {
    const by = cameOf(event, gone, living, events);
    if (by !== undefined) because.set(event.id, by);
  }
  return { events, gone, because };
}

/** The memory among those that go of which the event came, and of nothing else. */
function cameOf(
  event: PastEvent,
  gone: ReadonlySet<string>,
  living: readonly (readonly PastEvent[])[],
  events: ReadonlyMap<string, PastEvent>,
): string | undefined {
  const { payload } = event;
  const named = [payload.superseded_by, payload.by].find((id) => typeof id === "string" && gone.has(id));
  if (typeof named === "string") return named;
  const sources = isBirthOf(event) ? sourcesOf(event) : linksIn(event).map(({ source_id }) => source_id);
  if (sources.length > 0 && sources.every((id) => gone.has(id))) return sources[0];
  const own = living.find((list) => list[0]?.entity_id === event.entity_id) ?? [];
  return kindOf(event) === "contradicted" ? opponentOf(event, gone, living) : repeatedWith(event, own, events);
}

/** The episodes that a fact or rule was learned from. */
function sourcesOf(birth: PastEvent): readonly string[] {
  const linked = linksIn(birth).filter(
    ({ relation, source_id }) => relation === "derived_from" && source_id === birth.entity_id,
  );
  if (linked.length > 0) return linked.map(({ target_id }) => target_id);
  const source = isRecord(birth.payload.row) ? birth.payload.row.source_episode_id : undefined;
  return typeof source === "string" ? [source] : [];
}

/** A rule of the same run that contradicts this one. */
function opponentOf(
  event: PastEvent,
  gone: ReadonlySet<string>,
  living: readonly (readonly PastEvent[])[],
): string | undefined {
  const { run } = event.payload;
  if (typeof run !== "string") return undefined;
  return living
    .flat()
    .find(
      (birth) =>
        isBirthOf(birth) &&
        gone.has(birth.entity_id) &&
        birth.payload.run === run &&
        linksIn(birth).some(({ relation, target_id }) => relation === "contradicts" && target_id === event.entity_id),
    )?.entity_id;
}

/** Consolidation tells of a rule that it finds again in two events; the first names no episode. */
function repeatedWith(
  event: PastEvent,
  own: readonly PastEvent[],
  events: ReadonlyMap<string, PastEvent>,
): string | undefined {
  if (event.event_type !== "rule.repeated") return undefined;
  const next = own[own.indexOf(event) + 1];
  const together =
    next !== undefined &&
    events.has(next.id) &&
    kindOf(next) === "confirmed" &&
    next.actor === event.actor &&
    next.occurred_at.getTime() === event.occurred_at.getTime();
  return together ? linksIn(next)[0]?.source_id : undefined;
}

/** What made the memory live stays when somebody has stood up for it since. */
function vouchedFor(own: readonly PastEvent[], events: ReadonlyMap<string, PastEvent>): Kept[] {
  return own.flatMap((event, at) => {
    if (!events.has(event.id) || !givesLife(event)) return [];
    const voucher = own.slice(at + 1).find((later) => isVouching(later) && !events.has(later.id));
    return voucher === undefined ? [] : [{ event, because: { event: voucher } }];
  });
}

/** What a memory did to others stays as long as the memory does. */
function causeStays(event: PastEvent, gone: ReadonlySet<string>, living: readonly (readonly PastEvent[])[]): Kept[] {
  const cause = event.payload.superseded_by ?? event.payload.by;
  if (isUndo(event) || typeof cause !== "string" || gone.has(cause)) return [];
  const stays = living.some((own) => own.some((other) => other.entity_id === cause && isBirthOf(other)));
  return stays ? [{ event, because: { memory: cause } }] : [];
}

/** What was learned from something that goes and from something that does not. */
function partly(living: readonly (readonly PastEvent[])[], { events, gone }: Pick<Spread, "events" | "gone">): Kept[] {
  return living.flat().flatMap((event) => {
    if (events.has(event.id) || !isBirthOf(event)) return [];
    const sources = sourcesOf(event);
    const others = sources.filter((id) => !gone.has(id));
    return others.length > 0 && others.length < sources.length ? [{ event, because: { sources: others } }] : [];
  });
}
