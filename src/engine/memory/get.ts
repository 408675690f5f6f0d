/** One memory whole: its row, its links both ways, and what happened to it. */
import { effectiveConfidence } from "../domain/lifecycle/decay.ts";
import { isLive } from "../domain/lifecycle/lifecycle.ts";
import type { MemoryType } from "../domain/memory-types.ts";
import { everyVisible } from "../domain/scope.ts";
import { historyThen, linksThen } from "../store/history/as-of.ts";
import { historyOf } from "../store/history/events.ts";
import { linksOf } from "../store/memories/links.ts";
import { type Found, findMemory } from "./find.ts";
import type { Call } from "./memory.ts";
import { atThatTime } from "./past/past.ts";
import { findThen } from "./past/rows.ts";
import { allCounted, reference } from "./recall/reference.ts";

export interface GetInput {
  readonly id: string;
  readonly type?: MemoryType | undefined;
  /** As it was known then. */
  readonly as_of?: Date | undefined;
}

const HISTORY = 100;

export async function get(call: Call, input: GetInput) {
  const { found, links, history } = await (input.as_of === undefined
    ? readNow(call, input)
    : readThen(await atThatTime(call, input.as_of), input));
  const { id } = found.row;
  return {
    ...(input.as_of === undefined ? {} : { as_of: input.as_of.toISOString() }),
    memory: whole(input.as_of ?? call.now, found),
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

async function readNow(call: Call, input: GetInput) {
  const { memory, caller } = call;
  await allCounted(memory);
  const found = await findMemory(call, memory.db, input.id, input.type);
  const { id } = found.row;
  const [links, history] = await Promise.all([
    // A link to another butler's memory would reveal its id, and how many such memories there are.
    linksOf(memory.db, caller.tenant, id, everyVisible(caller)),
    historyOf(memory.db, caller.tenant, id, HISTORY),
  ]);
  if (isLive(found.row.validity)) reference(call, [{ type: found.type, id }]);
  return { found, links, history };
}

/** Reading the past counts no reference: it is no reason to keep a memory longer. */
async function readThen(call: Call, input: GetInput) {
  const { memory, caller, now } = call;
  const found = await findThen(call, input.id, input.type);
  const [links, history] = await Promise.all([
    linksThen(memory.db, caller.tenant, found.row.id, now, everyVisible(caller)),
    historyThen(memory.db, caller.tenant, found.row.id, now, HISTORY),
  ]);
  return { found, links, history };
}

/** The row as it is answered: `validity` is called `state`, all other columns keep their names. */
function whole(now: Date, found: Found) {
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
    trust: found.row.trust,
    ...(found.type === "episode" ? {} : { effective_confidence: effectiveConfidence(found.row, now) }),
  };
}
