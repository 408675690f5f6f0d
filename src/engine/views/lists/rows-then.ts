/**
 * A list as it was known at a moment. Facts and rules are never deleted, so those of today that were stored by then are all there were; each
 * page of them is folded from its own events, which costs as much as the page is long and not as much as the history.
 */
import type { Found } from "../../memory/find.ts";
import type { Call } from "../../memory/memory.ts";
import { atThatTime, rowsThen } from "../../memory/past/past.ts";

/** Memories that had another state then are read past; after so many pages the reader is given what there is, and a cursor. */
const PAGES = 10;

export interface ListThen<R> {
  readonly until: Date;
  readonly limit: number;
  readonly after: readonly string[] | undefined;
  /** A page of what is stored now, of any state. */
  page(after: readonly string[] | undefined): Promise<readonly R[]>;
  placeOf(row: R): readonly string[];
  /** The row as it was, or undefined when it does not belong to the list. */
  asThen(row: R, found: Found): R | undefined;
}

export async function listThen<R extends { readonly id: string }>(
  call: Call,
  list: ListThen<R>,
): Promise<{ readonly rows: R[]; readonly last: R | undefined }> {
  const past = await atThatTime(call, list.until);
  const rows: R[] = [];
  let { after } = list;
  let last: R | undefined;
  for (let n = 0; n < PAGES; n++) {
    const page = await list.page(after);
    const found = await rowsThen(
      past,
      page.map(({ id }) => id),
    );
    for (const row of page) {
      last = row;
      const known = found.get(row.id);
      const was = known === undefined ? undefined : list.asThen(row, known);
      if (was !== undefined) rows.push(was);
      if (rows.length === list.limit) return { rows, last };
    }
    if (page.length < list.limit) return { rows, last: undefined };
    after = last === undefined ? undefined : list.placeOf(last);
  }
  return { rows, last };
}

/** Whether a state belongs to what was asked for. */
export const isAskedState = (asked: string, was: string): boolean =>
  asked === "all" || (asked === "live" ? was === "active" || was === "fading" : asked === was);
