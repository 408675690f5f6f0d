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
  readonly links: RowJson[];
  /** Counts to add, not totals. */
  readonly meetings: Map<string, Meeting>;
  /** Events of a memory that no event stored: a part of the stream is missing. */
  readonly orphans: string[];
}

const byType = <T>(make: () => T): Record<MemoryType, T> => ({ episode: make(), fact: make(), rule: make() });

export function emptyLedger(): Ledger {
  return {
    memories: byType(() => new Map()),
    deleted: byType(() => new Set()),
    applications: [],
    links: [],
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
  for (const link of listOf(payload.links)) ledger.links.push(link);
  // Marks from before repeated ones were kept were all counted.
  if (isRecord(payload.application)) ledger.applications.push({ counted: true, ...payload.application });
  for (const read of readsOf(event)) refer(ledger, event, read);
  const type = memoryType(event.entity_type);
  if (type === undefined) return;
  const rows = ledger.memories[type];
  if (isBirth(event)) {
    // Rows from before trust was written down were given it by the migration.
    rows.set(event.entity_id, { trust: "agent", ...canonical(payload.row as RowJson) });
  } else if (event.event_type === `${type}.deleted`) {
    if (!rows.delete(event.entity_id)) ledger.orphans.push(describe(event));
    ledger.deleted[type].add(event.entity_id);
    for (const [key, { episode_id }] of ledger.meetings)
      if (episode_id === event.entity_id) ledger.meetings.delete(key);
  } else if (isRecord(payload.set)) {
    const row = rows.get(event.entity_id);
    if (row) Object.assign(row, canonical(payload.set));
    else ledger.orphans.push(describe(event));
  }
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

/** A memory that was deleted before its reading was counted has no row to count on; nothing of the stream is missing then. */
function refer(ledger: Ledger, event: ReplayEvent, { type, id, expires_at }: Referred): void {
  const row = ledger.memories[type].get(id);
  if (!row) return;
  countReading(row, event.occurred_at);
  if (type !== "episode") return;
  if (expires_at !== undefined) row.expires_at = expires_at;
  const session = readerOf(event.session_id ?? undefined, event.actor, event.occurred_at);
  const day = event.occurred_at.toISOString().slice(0, 10);
  const key = JSON.stringify([id, session, day]);
  const known = ledger.meetings.get(key);
  if (known) known.n += 1;
  else ledger.meetings.set(key, { tenant_id: event.tenant_id, episode_id: id, session_id: session, day, n: 1 });
}

/** The same step as engine/store/memories/references.ts takes in SQL. */
export function countReading(row: RowJson, at: Date): void {
  row.reference_count = Number(row.reference_count ?? 0) + 1;
  const last = typeof row.last_referenced_at === "string" ? new Date(row.last_referenced_at) : undefined;
  if (last && dayOf(last) < dayOf(at)) row.prior_referenced_at = row.last_referenced_at;
  if (!last || last < at) row.last_referenced_at = at.toISOString();
}

/** Who has read: a session, or, of those who name none, the token or person on one day. */
export const readerOf = (session: string | undefined, actor: string, at: Date): string =>
  session ?? `${actor} ${at.toISOString().slice(0, 10)}`;

interface Referred {
  readonly type: MemoryType;
  readonly id: string;
  /** Until when an episode lives because of it. */
  readonly expires_at: string | undefined;
}

/** Each memory once: an answer may have shown it in two places, and it counts once. */
function readsOf(event: ReplayEvent): Referred[] {
  if (event.event_type !== "memory.referenced") return [];
  const seen = new Map<string, Referred>();
  for (const { type: name, id, expires_at } of listOf(event.payload.references)) {
    const type = memoryType(name);
    const until = typeof expires_at === "string" ? expires_at : undefined;
    if (type !== undefined && typeof id === "string") seen.set(id, { type, id, expires_at: until });
  }
  return [...seen.values()];
}

const memoryType = (name: unknown): MemoryType | undefined => MEMORY_TYPES.find((type) => type === name);

const listOf = (value: unknown): RowJson[] => (Array.isArray(value) ? value.filter(isRecord) : []);
