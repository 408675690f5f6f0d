/**
 * The life of one memory as its events tell it, and which of them are in effect. An undo is an event that names the events it takes
 * back; undoing that undo puts them in effect again. So nothing is copied: what holds is what the events in effect say.
 */
import type { MemoryEvent } from "../event.ts";
import type { MemoryType } from "../memory-types.ts";
import { isRecord } from "../record.ts";
import type { RowJson } from "../replay.ts";

export type PastEvent = Pick<
  MemoryEvent,
  | "seq"
  | "id"
  | "event_type"
  | "entity_id"
  | "scope"
  | "occurred_at"
  | "actor"
  | "session_id"
  | "request_id"
  | "payload"
> & { readonly entity_type: MemoryType };

export interface Mark {
  readonly id: string;
  readonly counted: boolean;
}

export interface Chronicle {
  readonly type: MemoryType;
  readonly id: string;
  readonly scope: string;
  /** As it is stored now; undefined when it was deleted. */
  readonly row: RowJson | undefined;
  /** Oldest first. */
  readonly events: readonly PastEvent[];
  /** Of a rule. */
  readonly marks: readonly Mark[];
}

export interface LinkKey {
  readonly source_id: string;
  readonly target_id: string;
  readonly relation: string;
}

/** Ids of events. */
export type EventIds = ReadonlySet<string>;

export const kindOf = ({ event_type }: PastEvent): string => event_type.slice(event_type.indexOf(".") + 1);

export const isBirthOf = (event: PastEvent): boolean => kindOf(event) === "stored" && isRecord(event.payload.row);

export const undoneIn = ({ payload }: PastEvent): readonly string[] =>
  Array.isArray(payload.undone) ? payload.undone.filter((id) => typeof id === "string") : [];

export const isUndo = (event: PastEvent): boolean => kindOf(event) === "undone";

export const linksIn = ({ payload }: Pick<PastEvent, "payload">): readonly (RowJson & LinkKey)[] =>
  Array.isArray(payload.links)
    ? payload.links.filter((link): link is RowJson & LinkKey => isRecord(link) && typeof link.source_id === "string")
    : [];

export const linkName = ({ source_id, target_id, relation }: LinkKey): string =>
  `${source_id} ${target_id} ${relation}`;

/** Events that an undo in effect has taken back, when `also` are taken back too. The newest decides first: an undo may itself be undone. */
export function takenBack(events: readonly PastEvent[], also: EventIds = new Set()): Set<string> {
  const back = new Set(also);
  for (const event of events.toReversed()) if (!back.has(event.id)) for (const id of undoneIn(event)) back.add(id);
  return back;
}

/**
 * What an undo reverses. What time and jobs do (fading, expiring, beginning, promotion), what was read, and that an episode counts as
 * learned from stays: it would happen again, or be learned again, at the next job.
 */
const REVERSED: Readonly<Record<MemoryType, readonly string[]>> = {
  episode: ["stored", "repeated", "forgotten", "restored", "undone"],
  fact: ["stored", "superseded", "contradicted", "confirmed", "repeated", "forgotten", "restored", "undone"],
  rule: [
    ...["stored", "contradicted", "confirmed", "repeated", "forgotten", "restored", "undone"],
    ...["marked_helpful", "marked_harmful", "marked_again"],
  ],
};

/** Of a rule: told together with a mark, which has set the columns. */
const WITH_A_MARK = new Set(["promoted", "demoted", "inverted"]);

export const isReversed = (event: PastEvent): boolean =>
  REVERSED[event.entity_type].includes(kindOf(event)) ||
  (event.entity_type === "rule" && WITH_A_MARK.has(kindOf(event)) && event.payload.set === undefined);

/** Changes that a job makes because time has passed. */
const OF_TIME = new Set(["faded", "revived", "expired"]);

export const isOfTime = (event: PastEvent): boolean => OF_TIME.has(kindOf(event));

/** Somebody has stood up for the memory. */
const VOUCHES = new Set(["confirmed", "repeated", "restored", "marked_helpful"]);

export const isVouching = (event: PastEvent): boolean => VOUCHES.has(kindOf(event));

/** Before it the memory was not there for anybody, after it it was. */
export const givesLife = (event: PastEvent): boolean =>
  isBirthOf(event) || kindOf(event) === "restored" || isUndo(event);
