/** Pages do not search a past that is too long: such a search reads every event up to its moment, 20,000 of them in about 4 s. */
import { MemoryError } from "../domain/errors.ts";
import { MEMORY_TYPES, type MemoryType } from "../domain/memory-types.ts";
import type { Call } from "../memory/memory.ts";
import { countPast } from "../store/history/as-of.ts";
import * as v from "./common.ts";

const MOST = 50_000;

export async function refuseLongPast(
  call: Call,
  {
    as_of: until,
    scope,
    type,
  }: { as_of?: Date | undefined; scope?: string | undefined; type?: MemoryType | undefined },
): Promise<void> {
  if (until === undefined) return;
  const { tenant, scopes } = v.seenBy(call, { scope });
  const types = type === undefined ? MEMORY_TYPES : [type];
  const events = await countPast(call.memory.db, { tenant, scopes, types, until });
  if (events <= MOST) return;
  const count = (n: number) => n.toLocaleString("en");
  throw new MemoryError(
    "over_budget",
    `A search of that day would read ${count(events)} events, and a page reads at most ${count(MOST)}. Search one scope or type, choose an earlier day, or list the facts of that day, which has no such limit.`,
    { field: "as_of" },
  );
}
