/** The audit stream, page by page, in the order things happened. */
import { invalid } from "../domain/errors.ts";
import { shownPayload } from "../domain/replay.ts";
import { readableScopes } from "../domain/scope.ts";
import { readStream, seqOf } from "../store/history/events.ts";
import type { Call } from "./memory.ts";

export interface ActivityInput {
  readonly since?: Date | undefined;
  readonly scope?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export async function activity(call: Call, input: ActivityInput) {
  const after = await placeAfter(call, input.cursor ?? START);
  const limit = input.limit ?? 100;
  const events = await readStream(call.memory.db, {
    tenant: call.caller.tenant,
    scopes: readableScopes(call.caller, input.scope),
    since: input.since,
    after,
    limit,
  });
  const page = events.slice(0, countOnPage(events));
  const last = page.at(-1);
  return {
    events: page.map(({ seq: _, tenant_id: __, occurred_at, ...event }) => ({
      ...event,
      payload: shownPayload(event.payload),
      occurred_at: occurred_at.toISOString(),
    })),
    // Always given: a reader that has caught up asks again with it later and misses nothing.
    next_cursor: last === undefined ? (input.cursor ?? START) : `e${last.id}`,
    more: events.length === limit || page.length < events.length,
  };
}

/** In characters of payload: a thousand events of long episodes would be 100 MB. */
const PAGE_SIZE = 1_000_000;

/** How many events fit on a page, at least one. No payload beyond the page is measured. */
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
  const place = id === undefined ? undefined : await seqOf(memory.db, caller.tenant, id);
  if (place === undefined) throw invalid("cursor", "cursor must be a next_cursor of an earlier answer.");
  return place;
}
