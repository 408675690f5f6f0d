/** Links that are made together with a memory: one by one, and to what was learned from the same episode. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Fact } from "../../domain/fact.ts";
import type { Link, Relation } from "../../domain/link.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { siblingsOf } from "../../store/memories/links.ts";
import type { Call } from "../memory.ts";

type End = readonly [type: MemoryType, id: string];

export const linkOf = (
  call: Call,
  [source_type, source_id]: End,
  relation: Relation,
  [target_type, target_id]: End,
): Link => ({
  tenant_id: call.caller.tenant,
  source_type,
  source_id,
  target_type,
  target_id,
  relation,
  request_id: call.request?.request_id ?? null,
  created_at: call.now,
});

/** Bounds the links of a long episode: twenty facts of one would give 190 of them. */
const MOST_RELATED = 3;

export interface NewMemory extends Pick<Fact, "id" | "scope"> {
  readonly type: "fact" | "rule";
  /** Rules have no subject: they are related to everything that was learned from the same episode. */
  readonly subject?: string;
}

/** Links to others that were learned from these episodes. Only within one scope: whoever sees one end of a link sees the link. */
export async function relatedLinks(
  call: Call,
  sql: Sql,
  added: NewMemory,
  episodes: readonly string[],
): Promise<Link[]> {
  if (episodes.length === 0) return [];
  const siblings = await siblingsOf(sql, call.caller.tenant, added, episodes, MOST_RELATED);
  return siblings.map(({ type, id }) => linkOf(call, [added.type, added.id], "related_to", [type, id]));
}
