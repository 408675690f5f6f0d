/**
 * A list as it was known at a moment. Facts and rules are never deleted, so those of today that were stored by then are all there were; each
 * page of them is folded from its own events, which costs as much as the page is long and not as much as the history. Links, chains and
 * readings are read only of what is shown.
 */
import type { Found } from "../../memory/find.ts";
import type { Call } from "../../memory/memory.ts";
import { atThatTime } from "../../memory/past/past.ts";
import { type FoldedRow, foldedThen, foundOf, withReadings } from "../../memory/past/rows.ts";

/** Memories that had another state then are read past; after so many pages the reader is given what there is, and a cursor. */
const PAGES = 10;

interface Identified {
  readonly id: string;
}

export interface ListThen<P extends Identified, R extends Identified> {
  readonly until: Date;
  readonly limit: number;
  readonly after: readonly string[] | undefined;
  /** The places of a page of what is stored now, of any state. */
  places(after: readonly string[] | undefined): Promise<readonly P[]>;
  placeOf(place: P): readonly string[];
  /** Whether it belonged to the list as it was. */
  isWanted(found: Found): boolean;
  /** These as they are stored now, in any order. */
  rows(ids: readonly string[]): Promise<readonly R[]>;
  /** The row as it was. */
  asThen(row: R, found: Found): R;
}

export async function listThen<P extends Identified, R extends Identified>(
  call: Call,
  list: ListThen<P, R>,
): Promise<{ readonly rows: R[]; readonly last: P | undefined }> {
  const past = await atThatTime(call, list.until);
  call.memory.timelines.prepare(past);
  const wanted = new Map<string, FoldedRow>();
  const answer = async (last: P | undefined) => {
    const ids = [...wanted.keys()];
    const [now, then] = await Promise.all([ids.length === 0 ? [] : list.rows(ids), withReadings(past, wanted)]);
    const byId = new Map(now.map((row) => [row.id, row]));
    const rows = ids.flatMap((id) => {
      const [row, found] = [byId.get(id), then.get(id)];
      return row === undefined || found === undefined ? [] : [list.asThen(row, found)];
    });
    return { rows, last };
  };
  let { after } = list;
  let last: P | undefined;
  for (let n = 0; n < PAGES; n++) {
    const page = await list.places(after);
    const ids = page.map(({ id }) => id);
    const folded = await foldedThen(past, ids);
    for (const place of page) {
      last = place;
      const known = folded.get(place.id);
      if (known !== undefined && list.isWanted(foundOf(known))) wanted.set(place.id, known);
      if (wanted.size === list.limit) return answer(last);
    }
    if (page.length < list.limit) return answer(undefined);
    after = last === undefined ? undefined : list.placeOf(last);
  }
  return answer(last);
}

/** Whether a state belongs to what was asked for. */
export const isAskedState = (asked: string, was: string): boolean =>
  asked === "all" || (asked === "live" ? was === "active" || was === "fading" : asked === was);
