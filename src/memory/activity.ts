/** The audit stream, page by page, in the order things happened. */
import { invalid } from "../domain/errors.ts";
import { readableScopes } from "../domain/scope.ts";
import { readStream } from "../store/events.ts";
import type { Call } from "./memory.ts";

export interface ActivityInput {
  readonly since?: Date | undefined;
  readonly scope?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export async function activity(call: Call, input: ActivityInput) {
  const after = input.cursor === undefined ? "0" : placeOf(input.cursor);
  const limit = input.limit ?? 100;
  const events = await readStream(call.memory.db, {
    tenant: call.caller.tenant,
    scopes: readableScopes(call.caller, input.scope),
    since: input.since,
    after,
    limit,
  });
  const last = events.at(-1)?.seq ?? after;
  return {
    events: events.map(({ seq: _, tenant_id: __, occurred_at, ...event }) => ({
      ...event,
      payload: { ...event.payload },
      occurred_at: occurred_at.toISOString(),
    })),
    // Always given: a reader that has caught up asks again with it later and misses nothing.
    next_cursor: `e${last}`,
    more: events.length === limit,
  };
}

function placeOf(cursor: string): string {
  if (!/^e\d{1,18}$/.test(cursor)) throw invalid("cursor", "cursor must be a next_cursor of an earlier answer.");
  return cursor.slice(1);
}
