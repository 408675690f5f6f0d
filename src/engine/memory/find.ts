/** One memory by its id, whatever its type, if this caller may see it. */

import type { Sql } from "../adapters/db/port.ts";
import type { Episode } from "../domain/episode.ts";
import { notFound } from "../domain/errors.ts";
import type { Fact } from "../domain/fact.ts";
import { MEMORY_TYPES, type MemoryType } from "../domain/memory-types.ts";
import type { Rule } from "../domain/rule.ts";
import { canSee } from "../domain/scope.ts";
import { findEpisode } from "../store/memories/episodes.ts";
import { findFact } from "../store/memories/facts.ts";
import { findRule } from "../store/memories/rules.ts";
import type { Call } from "./memory.ts";

export type Found =
  | { readonly type: "episode"; readonly scope: string; readonly row: Episode }
  | { readonly type: "fact"; readonly scope: string; readonly row: Fact }
  | { readonly type: "rule"; readonly scope: string; readonly row: Rule };

/** `lock` holds the row until the transaction ends. What the caller may not see does not exist for it. */
export async function findMemory(
  call: Call,
  sql: Sql,
  id: string,
  type: MemoryType | undefined,
  lock = false,
): Promise<Found> {
  for (const candidate of type === undefined ? MEMORY_TYPES : [type]) {
    const found = await read(call, sql, id, candidate, lock);
    if (found && canSee(call.caller, found.scope)) return found;
  }
  throw notFound(`no ${type ?? "memory"} with the id ${id}; search for it first.`);
}

async function read(call: Call, sql: Sql, id: string, type: MemoryType, lock: boolean): Promise<Found | undefined> {
  const { tenant } = call.caller;
  if (type === "fact") {
    const row = await findFact(sql, tenant, id, lock);
    return row && { type, scope: row.scope, row };
  }
  if (type === "rule") {
    const row = await findRule(sql, tenant, id, lock);
    return row && { type, scope: row.scope, row };
  }
  const row = await findEpisode(sql, tenant, id, lock ? "for update" : undefined);
  // An expired episode is not found by any read, cleaned or not.
  return row && row.expires_at > call.now ? { type, scope: row.butler, row } : undefined;
}
