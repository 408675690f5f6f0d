/**
 * The stream folded into rows. Pure: a page of events and the rows they touch go in, the rows as they are afterwards come
 * out. Rows are JSON as the database writes it: timestamps in ISO form, bytea as `\x…`.
 */

import type { MemoryEvent } from "./event.ts";
import { canonicalState } from "./lifecycle/lifecycle.ts";
import { MEMORY_TYPES, type MemoryType } from "./memory-types.ts";
import { dayOf } from "./ranking/scoring.ts";
import { isRecord } from "./record.ts";

export type ReplayEvent = Pick<
  MemoryEvent,
  "seq" | "tenant_id" | "event_type" | "entity_id" | "occurred_at" | "actor" | "session_id" | "payload"
> & { readonly entity_type: string };

export type RowJson = Record<string, unknown>;

/** How often one session met one episode on one day. */
export interface Meeting {
  readonly tenant_id: string;
  readonly episode_id: string;
  readonly session_id: string;
  readonly day: string;
  n: number;
}

export interface Ledger {
  /** By type and id. What is not here does not exist. Changed in place. */
  readonly memories: Readonly<Record<MemoryType, Map<string, RowJson>>>;
  /** Ids whose rows, and what hangs on them, must go before anything of this ledger is written. */
  readonly deleted: Readonly<Record<MemoryType, Set<string>>>;
  readonly applications: RowJson[];
  /** Marks of earlier pages that count from now on, or no more. */
  readonly recounted: Map<string, boolean>;
  readonly links: RowJson[];
  /** Removed before `links` are added. */
  readonly unlinked: Map<string, RowJson>;
  /** Counts to add, not totals. */
  readonly meetings: Map<string, Meeting>;
  /**
   * Of memories whose events were folded: the place in the stream up to which their readings are in their row already. It is handed
   * on from page to page.
   */
  readonly readThrough: Map<string, bigint>;
  /** Events of a memory that no event stored: a part of the stream is missing. */
  readonly orphans: string[];
}

const byType = <T>(make: () => T): Record<MemoryType, T> => ({ episode: make(), fact: make(), rule: make() });

export function emptyLedger(readThrough: Map<string, bigint> = new Map()): Ledger {
  return {
    readThrough,
    memories: byType(() => new Map()),
    deleted: byType(() => new Set()),
    applications: [],
    recounted: new Map(),
    links: [],
    unlinked: new Map(),
    meetings: new Map(),
    orphans: [],
  };
}

/** The memories whose rows must be in the ledger before the page is applied. */
export function touchedBy(events: readonly ReplayEvent[]): Record<MemoryType, Set<string>> {
  const touched = byType(() => new Set<string>());
  for (const event of events) {
    const type = memoryType(event.entity_type);
    if (type !== undefined && !isBirth(event)) touched[type].add(event.entity_id);
    for (const read of readsOf(event)) touched[read.type].add(read.id);
  }
  return touched;
}

export function applyEvent(ledger: Ledger, event: ReplayEvent): void {
  const { payload } = event;
  for (const link of listOf(payload.unlinked)) unlink(ledger, link);
  for (const link of listOf(payload.links)) ledger.links.push(link);
  for (const mark of listOf(payload.recounted)) recount(ledger, mark);
  // Marks from before repeated ones were kept were all counted.
  if (isRecord(payload.application)) ledger.applications.push({ counted: true, ...payload.application });
  for (const mark of listOf(payload.applications)) ledger.applications.push(mark);
  for (const read of readsOf(event)) refer(ledger, event, read);
  const type = memoryType(event.entity_type);
  if (type === undefined) return;
  const rows = ledger.memories[type];
  if (isBirth(event)) {
    // Rows from before trust was written down were given it by the migration.
    rows.set(event.entity_id, { trust: "agent", ...canonical(payload.row as RowJson) });
    beginFolded(ledger, event);
  } else if (event.event_type === `${type}.deleted`) {
    // What was erased was stored by an event that says so no more, and of what was folded only the end is told.
    const told = rows.delete(event.entity_id) || payload.erased !== undefined || payload.folded !== undefined;
    if (!told) ledger.orphans.push(describe(event));
    ledger.deleted[type].add(event.entity_id);
    for (const [key, { episode_id }] of ledger.meetings)
      if (episode_id === event.entity_id) ledger.meetings.delete(key);
  } else if (isRecord(payload.set)) {
    const row = rows.get(event.entity_id);
    if (row) Object.assign(row, canonical(payload.set));
    else ledger.orphans.push(describe(event));
  }
}

const sameLink = (a: RowJson, b: RowJson): boolean =>
  a.source_id === b.source_id && a.target_id === b.target_id && a.relation === b.relation;

function unlink(ledger: Ledger, link: RowJson): void {
  const left = ledger.links.filter((told) => !sameLink(told, link));
  ledger.links.splice(0, ledger.links.length, ...left);
  ledger.unlinked.set(`${link.source_id} ${link.target_id} ${link.relation}`, link);
}

function recount(ledger: Ledger, { id, counted }: RowJson): void {
  const told = ledger.applications.find((application) => application.id === id);
  if (told) told.counted = counted === true;
  else ledger.recounted.set(String(id), counted === true);
}

const canonical = (columns: RowJson): RowJson =>
  "validity" in columns ? { ...columns, validity: canonicalState(columns.validity) } : columns;

/** An event's payload as it is shown: its states by their present names. */
export const shownPayload = (payload: Readonly<RowJson>): RowJson => ({
  ...payload,
  ...(isRecord(payload.row) ? { row: canonical(payload.row) } : {}),
  ...(isRecord(payload.set) ? { set: canonical(payload.set) } : {}),
});

export const isBirth = (event: Pick<ReplayEvent, "event_type" | "entity_type" | "payload">): boolean =>
  event.event_type === `${event.entity_type}.stored` && isRecord(event.payload.row);

const describe = (event: ReplayEvent) =>
  `event ${event.seq}, ${event.event_type}: no ${event.entity_type} ${event.entity_id} was stored before`;

/** What an event holds that stands for all events of its memory up to a checkpoint, besides the row. */
function beginFolded(ledger: Ledger, { tenant_id, entity_id, payload }: ReplayEvent): void {
  if (!isRecord(payload.folded)) return;
  if (typeof payload.folded.through === "string") ledger.readThrough.set(entity_id, BigInt(payload.folded.through));
  for (const { session_id, day, n } of listOf(payload.meetings))
    meet(ledger, { tenant_id, episode_id: entity_id, session_id: String(session_id), day: String(day), n: Number(n) });
}

function meet(ledger: Ledger, meeting: Meeting): void {
  const key = JSON.stringify([meeting.episode_id, meeting.session_id, meeting.day]);
  const known = ledger.meetings.get(key);
  if (known) known.n += meeting.n;
  else ledger.meetings.set(key, { ...meeting });
}

/** A memory that was deleted before its reading was counted has no row to count on; nothing of the stream is missing then. */
function refer(ledger: Ledger, event: ReplayEvent, { type, id, expires_at, n, last, readers }: Referred): void {
  const row = ledger.memories[type].get(id);
  const through = ledger.readThrough.get(id);
  if (!row || (through !== undefined && BigInt(event.seq) <= through)) return;
  countReading(row, last ?? event.occurred_at, n);
  if (type !== "episode") return;
  // A reading never makes a life shorter, and readings that were added up may come in another order.
  if (expires_at !== undefined && !(new Date(String(row.expires_at)) > new Date(expires_at)))
    row.expires_at = expires_at;
  const day = event.occurred_at.toISOString().slice(0, 10);
  const own = { session_id: readerOf(event.session_id ?? undefined, event.actor, event.occurred_at), n };
  for (const reader of readers ?? [own]) meet(ledger, { tenant_id: event.tenant_id, episode_id: id, day, ...reader });
}

/** The same step as engine/store/memories/references.ts takes in SQL. Several readings are of one day. */
export function countReading(row: RowJson, at: Date, n = 1): void {
  row.reference_count = Number(row.reference_count ?? 0) + n;
  const last = typeof row.last_referenced_at === "string" ? new Date(row.last_referenced_at) : undefined;
  if (last && dayOf(last) < dayOf(at)) row.prior_referenced_at = row.last_referenced_at;
  if (!last || last < at) row.last_referenced_at = at.toISOString();
}

/** Who has read: a session, or, of those who name none, the token or person on one day. */
export const readerOf = (session: string | undefined, actor: string, at: Date): string =>
  session ?? `${actor} ${at.toISOString().slice(0, 10)}`;

export interface Reader {
  readonly session_id: string;
  readonly n: number;
}

/** A memory in an event `memory.referenced`: one reading, or those of a day added up. */
export interface Referred {
  readonly type: MemoryType;
  readonly id: string;
  /** Until when an episode lives because of it. */
  readonly expires_at: string | undefined;
  readonly n: number;
  /** Of several readings. */
  readonly last: Date | undefined;
  readonly readers: readonly Reader[] | undefined;
}

/** Each memory once: an answer may have shown it in two places, and it counts once. */
export function readsOf(event: Pick<ReplayEvent, "event_type" | "payload">): Referred[] {
  if (event.event_type !== "memory.referenced") return [];
  const seen = new Map<string, Referred>();
  for (const { type: name, id, expires_at, n, last, readers } of listOf(event.payload.references)) {
    const type = memoryType(name);
    if (type === undefined || typeof id !== "string") continue;
    seen.set(id, {
      ...{ type, id, n: typeof n === "number" ? n : 1 },
      expires_at: typeof expires_at === "string" ? expires_at : undefined,
      last: typeof last === "string" ? new Date(last) : undefined,
      readers: Array.isArray(readers) ? (readers as Reader[]) : undefined,
    });
  }
  return [...seen.values()];
}

const memoryType = (name: unknown): MemoryType | undefined => MEMORY_TYPES.find((type) => type === name);

const listOf = (value: unknown): RowJson[] => (Array.isArray(value) ? value.filter(isRecord) : []);
