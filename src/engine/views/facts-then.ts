/**
 * Facts as they were known at a moment. Facts are never deleted, so those of today that were stored by then are all there were; each
 * page of them is folded from its own events, which costs as much as the page is long and not as much as the history.
 */
import { isLive } from "../domain/lifecycle/lifecycle.ts";
import type { Call } from "../memory/memory.ts";
import { atThatTime, rowsThen } from "../memory/past/past.ts";
import { type FactPage, type ListedFact, listFacts } from "../store/browse/facts.ts";

type Query = Omit<FactPage, "limit"> & { readonly until: Date };

/** Facts that had another state then are read past; after so many pages the reader is given what there is, and a cursor. */
const PAGES = 10;

export async function factsThen(
  call: Call,
  query: Query,
  limit: number,
): Promise<{ readonly facts: ListedFact[]; readonly last: ListedFact | undefined }> {
  const then = atThatTime(call, query.until);
  const facts: ListedFact[] = [];
  let after = query.after;
  let last: ListedFact | undefined;
  for (let n = 0; n < PAGES; n++) {
    const page = await listFacts(call.memory.db, { ...query, state: "all", after, limit });
    const rows = await rowsThen(
      then,
      page.map(({ id }) => id),
    );
    for (const fact of page) {
      last = fact;
      const found = rows.get(fact.id);
      if (found?.type === "fact" && isIn(query.state, found.row.validity)) facts.push({ ...fact, ...found.row });
      if (facts.length === limit) return { facts, last };
    }
    if (page.length < limit) return { facts, last: undefined };
    after =
      last === undefined ? undefined : query.order === "newest" ? [last.id] : [last.subject, last.predicate, last.id];
  }
  return { facts, last };
}

const isIn = (state: FactPage["state"], was: ListedFact["validity"]): boolean =>
  state === "all" || (state === "live" ? isLive(was) : state === was);
