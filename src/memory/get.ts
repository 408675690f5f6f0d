/** One memory whole: its row, its links both ways, and what happened to it. */
import { effectiveConfidence } from "../domain/decay.ts";
import { isLive } from "../domain/lifecycle.ts";
import type { MemoryType } from "../domain/memory-types.ts";
import { historyOf } from "../store/events.ts";
import { linksOf } from "../store/links.ts";
import { type Found, findMemory } from "./find.ts";
import type { Call } from "./memory.ts";
import { reference } from "./reference.ts";

export interface GetInput {
  readonly id: string;
  readonly type?: MemoryType | undefined;
}

const HISTORY = 100;

export async function get(call: Call, input: GetInput) {
  const { memory, caller } = call;
  const found = await findMemory(call, memory.db, input.id, input.type);
  const { id } = found.row;
  const [links, history] = await Promise.all([
    linksOf(memory.db, caller.tenant, id),
    historyOf(memory.db, caller.tenant, id, HISTORY),
  ]);
  if (isLive(found.row.validity)) reference(call, [{ type: found.type, id }]);
  return {
    memory: whole(call, found),
    links: {
      outbound: links
        .filter((link) => link.source_id === id)
        .map((link) => ({
          relation: link.relation,
          type: link.target_type,
          id: link.target_id,
          created_at: link.created_at.toISOString(),
        })),
      inbound: links
        .filter((link) => link.target_id === id)
        .map((link) => ({
          relation: link.relation,
          type: link.source_type,
          id: link.source_id,
          created_at: link.created_at.toISOString(),
        })),
    },
    history: history.toReversed().map((event) => ({
      event_type: event.event_type,
      occurred_at: event.occurred_at.toISOString(),
      actor: event.actor,
      request_id: event.request_id,
    })),
  };
}

/** `state` is the word on the outside; the columns stand under their own names. */
function whole(call: Call, found: Found) {
  const { validity, tenant_id: _, ...columns } = found.row;
  const dated = Object.fromEntries(
    Object.entries(columns).map(([key, value]) => [key, value instanceof Date ? value.toISOString() : value]),
  );
  return {
    ...dated,
    type: found.type,
    id: found.row.id,
    content: found.row.content,
    state: validity,
    scope: found.scope,
    ...(found.type === "episode" ? {} : { effective_confidence: effectiveConfidence(found.row, call.now) }),
  };
}
