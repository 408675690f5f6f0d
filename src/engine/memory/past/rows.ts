/** Whole rows of a moment in the past, each folded from its own events: for the few memories that are shown. `call.now` is that moment. */

import type { Episode } from "../../domain/episode.ts";
import { notFound } from "../../domain/errors.ts";
import type { Fact } from "../../domain/fact.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { dayOf } from "../../domain/ranking/scoring.ts";
import type { RowJson } from "../../domain/replay.ts";
import type { Rule } from "../../domain/rule.ts";
import { canSee } from "../../domain/scope.ts";
import { type EntityEvent, eventsOf, readingsOf } from "../../store/history/as-of.ts";
import type { Found } from "../find.ts";
import type { Call } from "../memory.ts";

const PAGE = 2000;

export const dateOf = (value: unknown): Date | null => (typeof value === "string" ? new Date(value) : null);

/** A reading moves the end of an episode, and never back. */
export function extendExpiry(row: RowJson | undefined, until: Date | null): void {
  const before = dateOf(row?.expires_at);
  if (row && until !== null && before !== null && before < until) row.expires_at = until.toISOString();
}

/** Rows of then by id, without the references counted since they were stored: for their texts. */
export async function unreadRowsThen(call: Call, ids: readonly string[]): Promise<Map<string, Found>> {
  return new Map([...(await foldedThen(call, ids))].map(([id, whole]) => [id, foundOf(whole)]));
}

/** Whole rows of then by id, with the references they had then. */
export const rowsThen = async (call: Call, ids: readonly string[]): Promise<Map<string, Found>> =>
  withReadings(call, await foldedThen(call, ids));

/** Adds the references that these rows had then. */
export async function withReadings(call: Call, folded: ReadonlyMap<string, FoldedRow>): Promise<Map<string, Found>> {
  const { db } = call.memory;
  const { tenant } = call.caller;
  const asked = [...folded.values()].map(({ id, since }) => ({ id, since }));
  const readings = asked.length === 0 ? [] : await readingsOf(db, tenant, asked, call.now);
  for (const { id, n, last, prior, expires_at } of readings) {
    const row = folded.get(id)?.row;
    if (!row) continue;
    const before = dateOf(row.last_referenced_at);
    row.reference_count = Number(row.reference_count ?? 0) + n;
    if (prior !== null) row.prior_referenced_at = prior.toISOString();
    else if (before && dayOf(before) < dayOf(last)) row.prior_referenced_at = row.last_referenced_at;
    if (!before || before < last) row.last_referenced_at = last.toISOString();
    extendExpiry(row, expires_at);
  }
  return new Map([...folded].map(([id, whole]) => [id, foundOf(whole)]));
}

export async function foldedThen(
  { memory, caller, now }: Call,
  ids: readonly string[],
): Promise<Map<string, FoldedRow>> {
  const folded = new Map<string, FoldedRow>();
  let page: EntityEvent[] = [];
  do {
    page = ids.length === 0 ? [] : await eventsOf(memory.db, caller.tenant, ids, now, page.at(-1)?.seq ?? "0", PAGE);
    for (const event of page) applyEvent(folded, event);
  } while (page.length === PAGE);
  return folded;
}

export interface FoldedRow {
  readonly type: MemoryType;
  readonly id: string;
  readonly scope: string;
  readonly row: RowJson;
  /** The last event that set its reference count. */
  since: string;
}

function applyEvent(folded: Map<string, FoldedRow>, event: EntityEvent): void {
  const { type, id, scope, seq } = event;
  if (event.event_type === `${type}.deleted`) folded.delete(id);
  else if (event.event_type === `${type}.stored` && event.row !== null)
    folded.set(id, { type, id, scope, row: event.row, since: event.through ?? seq });
  else if (event.set !== null) {
    const whole = folded.get(id);
    if (!whole) return;
    Object.assign(whole.row, event.set);
    if ("reference_count" in event.set) whole.since = seq;
  }
}

/** The stream holds times as text; a row has dates. */
export function foundOf({ type, scope, row }: FoldedRow): Found {
  const { content_key: _, ...columns } = row;
  // Events from before a column existed do not have it.
  const known: Record<string, unknown> = { trust: "agent", ...columns };
  for (const name in columns) if (isTime(name)) known[name] = dateOf(columns[name]);
  if (type === "episode") return { type, scope, row: known as unknown as Episode };
  const learned = { corroborated_at: null, review_until: null, ...known };
  if (type === "fact") return { type, scope, row: learned as unknown as Fact };
  return { type, scope, row: learned as unknown as Rule };
}

const isTime = (column: string): boolean =>
  column.endsWith("_at") || column.endsWith("_until") || column === "valid_from" || column === "valid_to";

/** One memory as it was then, if it was there and this caller may see it. */
export async function findThen(call: Call, id: string, type: MemoryType | undefined): Promise<Found> {
  const found = (await rowsThen(call, [id])).get(id);
  const there =
    found !== undefined &&
    (type === undefined || found.type === type) &&
    (found.type !== "episode" || found.row.expires_at > call.now) &&
    canSee(call.caller, found.scope);
  if (!there) throw notFound(`no ${type ?? "memory"} with the id ${id} was known at ${call.now.toISOString()}.`);
  return found;
}
