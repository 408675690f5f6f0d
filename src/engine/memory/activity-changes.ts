/**
 * Events for people: each with the memory it is about as that is now, and the sessions it comes from. The text of the event itself is
 * left out: it holds what a memory said before it was forgotten.
 */
import type { MemoryEvent } from "../domain/event.ts";
import type { Learned } from "../domain/learning/sureness.ts";
import { isRecord } from "../domain/record.ts";
import { readersOf, type ShownMemory, sessionsOf, shownMemories } from "../store/history/shown-memories.ts";
import type { Call } from "./memory.ts";

interface SeenMemory {
  readonly type: ShownMemory["type"];
  readonly id: string;
  readonly state: string;
  readonly trust: string;
  readonly text?: string;
  readonly maturity?: string;
  readonly learned?: Partial<Learned>;
}

export async function shownChanges(call: Call, scopes: readonly string[] | undefined, events: readonly MemoryEvent[]) {
  const { memory, caller, now } = call;
  const reader = { tenant: caller.tenant, scopes, now };
  const [memories, sessions, readers] = await Promise.all([
    shownMemories(memory.db, reader, [...new Set(events.flatMap((event) => [event.entity_id, ...replacedBy(event)]))]),
    sessionsOf(memory.db, reader, [...new Set(events.flatMap(episodesOf))]),
    readersOf(memory.db, caller.tenant, [...new Set(events.flatMap(runOf))]),
  ]);
  const seen = (id: string | undefined) => {
    const found = id === undefined ? undefined : memories.get(id);
    return found && seenMemory(found);
  };
  return events.map((event) => {
    const { seq: _, tenant_id: __, occurred_at, payload, ...rest } = event;
    const from = event.session_id === null ? episodesOf(event).flatMap((id) => sessions.get(id) ?? []) : [];
    return {
      ...rest,
      payload: figuresOf(payload),
      occurred_at: occurred_at.toISOString(),
      memory: seen(event.entity_id),
      replaced: seen(replacedBy(event)[0]),
      sessions: event.session_id === null ? [...new Set(from)] : [event.session_id],
      reader: runOf(event).map((run) => readers.get(run))[0],
    };
  });
}

const seenMemory = ({ text, maturity, learned, ...rest }: ShownMemory): SeenMemory => ({
  ...rest,
  ...(text === null ? {} : { text }),
  ...(maturity === null ? {} : { maturity }),
  ...(learned === null ? {} : { learned }),
});

/** The facts that this one took the place of. */
function replacedBy({ event_type, payload }: MemoryEvent): string[] {
  if (event_type === "fact.stored") return idIn(payload.row, "supersedes_id");
  return event_type === "fact.began" ? idIn(payload.set, "supersedes_id") : [];
}

/** The episodes that an event rests on. Later events of a memory are not of the session that it was learned in. */
function episodesOf({ event_type, entity_type, entity_id, payload }: MemoryEvent): string[] {
  if (entity_type === "episode") return event_type === "episode.stored" ? [entity_id] : [];
  const links = Array.isArray(payload.links) ? payload.links.filter(isRecord) : [];
  return links.flatMap((link) => {
    if (link.relation === "derived_from" && link.target_type === "episode") return idIn(link, "target_id");
    return link.relation === "supports" && link.source_type === "episode" ? idIn(link, "source_id") : [];
  });
}

const runOf = ({ entity_type, payload }: MemoryEvent): string[] =>
  entity_type === "fact" || entity_type === "rule" ? idIn(payload, "run") : [];

function idIn(record: unknown, field: string): string[] {
  const id = isRecord(record) ? record[field] : undefined;
  return typeof id === "string" ? [id] : [];
}

/** Fields of a payload that are words of ours or numbers, never what somebody has said. */
const FIGURES = [
  "from",
  "to",
  "why",
  "superseded_by",
  "run",
  "provider",
  "model",
  "episodes",
  "kind",
  "counts",
  "count",
  "door",
  "tool",
] as const;

const figuresOf = (payload: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(FIGURES.flatMap((name) => (payload[name] === undefined ? [] : [[name, payload[name]]])));
