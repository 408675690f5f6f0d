/** Reads everything that an undo may touch: the memories of the cause, what came of them, and what holds or held their places. */
import type { Sql } from "../../adapters/db/port.ts";
import { MemoryError, notFound } from "../../domain/errors.ts";
import { type Chronicle, linksIn } from "../../domain/undo/chronicle.ts";
import { type Spread, spread } from "../../domain/undo/spread.ts";
import { knownSince } from "../../store/history/checkpoints.ts";
import {
  type Cause,
  type CausedEvent,
  chroniclesOf,
  eventsOfCause,
  holdMemories,
  keyMatesOf,
  neighboursOf,
  type Place,
} from "../../store/history/undo.ts";

/** Memories that one undo may look at. It holds all of them in memory, and its transaction locks their rows. */
const MOST = 5_000;
const MOST_EVENTS = 50_000;

export interface Gathered {
  readonly chronicles: readonly Chronicle[];
  readonly spread: Spread;
  /** How many events the cause itself has. */
  readonly caused: number;
}

/** With `hold` the rows stay as they are until the transaction ends: what was held while it was read is read again. */
export async function gather(sql: Sql, place: Place, cause: Cause, hold: boolean): Promise<Gathered> {
  const since = await knownSince(sql, place.tenant);
  if (since !== undefined && cause.kind === "since" && cause.value < since) throw noLongerKnown(since);
  const caused = await eventsOfCause(sql, place, cause, MOST_EVENTS + 1);
  if (since !== undefined && caused.some(({ folded }) => folded)) throw noLongerKnown(since);
  if (caused.length === 0)
    throw notFound(
      since === undefined ? nothingOf(cause) : `${nothingOf(cause)} Events before ${since.toISOString()} are not kept.`,
    );
  if (caused.length > MOST_EVENTS) throw tooMuch();
  const ids = new Set(directly(cause, caused).map(({ id }) => id));
  const held = new Set<string>();
  for (;;) {
    const gathered = await gatherAll(sql, place, caused, ids);
    const fresh = gathered.chronicles.map(({ id }) => id).filter((id) => !held.has(id));
    if (!hold || fresh.length === 0) return { ...gathered, caused: caused.length };
    await holdMemories(sql, place.tenant, fresh);
    for (const id of fresh) held.add(id);
  }
}

const nothingOf = ({ kind, value }: Cause): string =>
  kind === "since"
    ? `nothing was changed since ${value.toISOString()}.`
    : `nothing came of ${kind} ${value}, or it is not yours to see.`;

const noLongerKnown = (since: Date) =>
  notFound(
    `a part of it happened before ${since.toISOString()}, and single events are kept since then only (keep_days in [modules.memory.events]): it cannot be undone. Forget or correct the memories, or undo what came later, with since.`,
  );

const tooMuch = () =>
  new MemoryError(
    "over_budget",
    `more than ${MOST.toLocaleString("en")} memories are concerned; undo by session, by run or by a shorter time, one after the other.`,
  );

/**
 * What consolidation learned carries the request of its last episode. It goes when all of its episodes go, so it is no part of the
 * cause itself where that stored episodes.
 */
function directly(cause: Cause, caused: readonly CausedEvent[]): readonly CausedEvent[] {
  const told = caused.some(({ event_type }) => event_type === "episode.stored");
  const learns = (cause.kind === "request" || cause.kind === "session") && told;
  return learns ? caused.filter(({ run }) => run === null) : caused;
}

async function gatherAll(
  sql: Sql,
  place: Place,
  caused: readonly CausedEvent[],
  ids: ReadonlySet<string>,
): Promise<Omit<Gathered, "caused">> {
  const chronicles = new Map<string, Chronicle>();
  const asked = new Set<string>();
  const load = async (wanted: Iterable<string>) => {
    const fresh = [...new Set(wanted)].filter((id) => !asked.has(id));
    if (asked.size + fresh.length > MOST) throw tooMuch();
    for (const id of fresh) asked.add(id);
    for (const one of await chroniclesOf(sql, place, fresh)) chronicles.set(one.id, one);
    return fresh.length > 0;
  };
  await load(caused.map(({ entity_id }) => entity_id));
  for (;;) {
    const found = spread([...chronicles.values()], ids);
    const going = [...found.events.values()];
    const touched = [...new Set(going.map(({ entity_id }) => entity_id))];
    const wanted = [
      ...(await neighboursOf(sql, place.tenant, [...found.gone])),
      ...(await keyMatesOf(sql, place.tenant, touched)),
      // Another event may have told the same link, about its other end.
      ...going.flatMap((event) => linksIn(event).flatMap(({ source_id, target_id }) => [source_id, target_id])),
      ...going.flatMap(({ payload }) => [payload.superseded_by, payload.by].filter((id) => typeof id === "string")),
    ];
    if (!(await load(wanted))) return { chronicles: [...chronicles.values()], spread: found };
  }
}
