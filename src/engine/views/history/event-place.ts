import { invalid } from "../../domain/errors.ts";
import type { Call } from "../../memory/memory.ts";
import type { EventPlace } from "../../store/browse/activity.ts";
import { placeOfEvent } from "../../store/history/events.ts";

/** The cursor holds an event's id: its number in the stream would count what others do in between. */
export async function placeBefore({ memory, caller }: Call, id: string | undefined): Promise<EventPlace | undefined> {
  if (id === undefined) return undefined;
  const place = await placeOfEvent(memory.db, caller.tenant, id);
  if (place === undefined) throw invalid("cursor", "cursor must be a next_cursor of an earlier answer.");
  return place;
}
