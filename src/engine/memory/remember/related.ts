/** What was learned from the same episode about the same subject belongs together: links to a few of them. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Fact } from "../../domain/fact.ts";
import type { Link } from "../../domain/link.ts";
import { siblingsOf } from "../../store/memories/links.ts";
import type { Call } from "../memory.ts";
import { linkOf } from "./link.ts";

/** Bounds the links of a long episode: twenty facts of one would give 190 of them. */
const MOST_RELATED = 3;

export interface Newcomer extends Pick<Fact, "id" | "scope"> {
  readonly type: "fact" | "rule";
  /** A rule is about nobody in particular: it belongs with all that came with it. */
  readonly subject?: string;
}

/** Written with the newcomer, in its birth event. Only within its scope: links are seen by whoever sees either end. */
export async function relatedLinks(
  call: Call,
  sql: Sql,
  newcomer: Newcomer,
  episodes: readonly string[],
): Promise<Link[]> {
  if (episodes.length === 0) return [];
  const siblings = await siblingsOf(sql, call.caller.tenant, newcomer, episodes, MOST_RELATED);
  return siblings.map(({ type, id }) => linkOf(call, [newcomer.type, newcomer.id], "related_to", [type, id]));
}
