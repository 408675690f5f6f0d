/** Accesses that are written down though they changed no memory: reads across tenants, and what was refused. */
import type { NewEvent } from "../domain/event.ts";
import { GLOBAL_SCOPE } from "../domain/scope.ts";
import { appendEvents } from "../store/history/events.ts";
import type { Call, Memory } from "./memory.ts";
import { memoryOf } from "./tenancy.ts";
import { eventOf } from "./write.ts";

const ELEVATED_EVENT = "access.elevated";
const REFUSED_EVENT = "access.refused";

/** Written before the read, and in the stream of the tenant that is looked at: without the event there is no answer. */
export async function tellElevated(call: Call, tool: string): Promise<void> {
  const { memory, now } = call;
  const event = eventOf(call, {
    type: ELEVATED_EVENT,
    entity: { type: "read", id: memory.ids.next(now) },
    // Every caller of the tenant may know that somebody from outside has looked.
    scope: GLOBAL_SCOPE,
    payload: { tool },
  });
  await memory.db.tx((sql) => appendEvents(sql, [event]));
}

/** Refusals of one kind and caller, counted together. */
export interface RefusedAccess {
  readonly tenant: string;
  readonly butler: string;
  readonly actor: string;
  readonly kind: string;
  readonly door: string;
  readonly count: number;
  readonly from: Date;
  readonly to: Date;
}

/** What callers of this memory were refused, in the streams of their own tenants. */
export async function tellRefused(memory: Memory, refused: readonly RefusedAccess[]): Promise<void> {
  for (const tenant of new Set(refused.map((one) => one.tenant))) {
    const events = refused.filter((one) => one.tenant === tenant).map((one) => refusedEvent(memory, one));
    await memoryOf(memory, tenant).db.tx((sql) => appendEvents(sql, events));
  }
}

function refusedEvent(
  { ids }: Memory,
  { tenant, butler, actor, kind, door, count, from, to }: RefusedAccess,
): NewEvent {
  return {
    ...{ id: ids.next(to), tenant_id: tenant, butler, scope: butler, actor, occurred_at: to },
    ...{ event_type: REFUSED_EVENT, entity_type: "read", entity_id: ids.next(to) },
    ...{ session_id: null, request_id: null, subrequest_id: null, segment_id: null },
    payload: { kind, door, count, from: from.toISOString(), to: to.toISOString() },
  };
}
