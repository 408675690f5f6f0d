/** The audit stream, page by page, in the order things happened. */
import { invalid } from "../domain/errors.ts";
import { type MemoryEvent, UNREMARKABLE } from "../domain/event.ts";
import { shownPayload } from "../domain/replay.ts";
import { readableScopes } from "../domain/scope.ts";
import { memoriesOfSession, placeOfRemoved, readStream, seqOf } from "../store/history/events.ts";
import { shownChanges } from "./activity-changes.ts";
import type { Call } from "./memory.ts";

export interface ActivityInput {
  readonly since?: Date | undefined;
  readonly scope?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly newest?: boolean | undefined;
  readonly changes?: boolean | undefined;
  readonly session_id?: string | undefined;
  readonly ids?: readonly string[] | undefined;
}

export async function activity(call: Call, input: ActivityInput) {
  const { caller, memory } = call;
  const { session_id: session, newest = false, changes = false, limit = 100 } = input;
  const after = await placeAfter(call, input.cursor ?? START);
  const scopes = readableScopes(caller, input.scope);
  const ofSession = session === undefined ? undefined : await memoriesOfSession(memory.db, caller.tenant, session);
  const events = await readStream(memory.db, {
    ...{ tenant: caller.tenant, scopes, since: input.since, after, limit, newest, session },
    without: changes ? UNREMARKABLE : [],
    memories: input.ids ?? ofSession,
  });
  const page = pageOf(events, newest);
  const last = page.at(-1);
  return {
    events: changes ? await shownChanges(call, scopes, page) : page.map(wholeEvent),
    // Always given: a reader that has caught up asks again with it later and misses nothing.
    next_cursor: last === undefined ? (input.cursor ?? START) : `e${last.id}`,
    more: events.length === limit || page.length < events.length,
  };
}

const wholeEvent = ({ seq: _, tenant_id: __, occurred_at, ...event }: MemoryEvent) => ({
  ...event,
  payload: shownPayload(event.payload),
  occurred_at: occurred_at.toISOString(),
});

/** In characters of payload: a thousand events of long episodes would be 100 MB. */
const PAGE_SIZE = 1_000_000;

/** What fits on a page, at least one event; of the newest, the last ones. */
function pageOf(events: readonly MemoryEvent[], newest: boolean): readonly MemoryEvent[] {
  if (!newest) return events.slice(0, countOnPage(events));
  return events.slice(events.length - countOnPage(events.toReversed()));
}

/** No payload beyond the page is measured. */
function countOnPage(events: readonly { readonly payload: unknown }[]): number {
  let left = PAGE_SIZE;
  const over = events.findIndex(({ payload }) => {
    left -= JSON.stringify(payload).length;
    return left < 0;
  });
  return over === -1 ? events.length : Math.max(1, over);
}

/** Before the first event. */
const START = "e0";
const CURSOR = /^e([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** The cursor is the last event's id: its number in the stream would count what other butlers and tenants do in between. */
async function placeAfter({ memory, caller }: Call, cursor: string): Promise<string> {
  if (cursor === START) return "0";
  const id = CURSOR.exec(cursor)?.[1];
  const place =
    id === undefined
      ? undefined
      : ((await seqOf(memory.db, caller.tenant, id)) ?? (await placeOfRemoved(memory.db, caller.tenant, id)));
  if (place === undefined) throw invalid("cursor", "cursor must be a next_cursor of an earlier answer.");
  return place;
}
