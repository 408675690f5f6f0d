/** The provenance graph: edges among episodes, facts and rules, read from both ends. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Link } from "../../domain/link.ts";
import { isEitherLive } from "./live.ts";
import { insertRows } from "./rows.ts";

const COLUMNS = [
  "tenant_id",
  "source_type",
  "source_id",
  "target_type",
  "target_id",
  "relation",
  "request_id",
  "created_at",
];

export async function insertLinks(sql: Sql, links: readonly Link[]): Promise<void> {
  await insertRows(
    sql,
    "memory_links",
    COLUMNS,
    links as unknown as Record<string, unknown>[],
    "on conflict do nothing",
  );
}

/** Live facts and rules of a scope that were derived from any of these episodes, facts of another subject left out; newest first. */
export function siblingsOf(
  sql: Sql,
  tenant: string,
  of: { readonly scope: string; readonly subject?: string },
  episodes: readonly string[],
  limit: number,
): Promise<{ readonly type: "fact" | "rule"; readonly id: string }[]> {
  return sql.query(
    `select l.source_type as type, l.source_id as id from memory_links l
     left join facts f on l.source_type = 'fact' and f.id = l.source_id
     left join rules r on l.source_type = 'rule' and r.id = l.source_id
     where l.tenant_id = $1 and l.target_id = any($2::uuid[]) and l.relation = 'derived_from'
       and coalesce(f.scope, r.scope) = $3 and ${isEitherLive("f", "r")}
       and ($4::text is null or f.id is null or f.subject = $4)
     group by l.source_type, l.source_id order by l.source_id desc limit $5`,
    [tenant, episodes, of.scope, of.subject ?? null, limit],
  );
}

/** Neither end lies in a scope that is not among those of parameter `$n`; null sees all. What was deleted is in none. */
export const linksSeen = (n: number): string => `($${n}::text[] is null or not exists (
  select from episodes where id in (source_id, target_id) and butler <> all($${n}::text[])
  union all select from facts where id in (source_id, target_id) and scope <> all($${n}::text[])
  union all select from rules where id in (source_id, target_id) and scope <> all($${n}::text[])))`;

export function linksOf(sql: Sql, tenant: string, id: string, scopes: readonly string[] | undefined): Promise<Link[]> {
  return sql.query<Link>(
    `select ${COLUMNS.join(", ")} from memory_links where tenant_id = $1 and (source_id = $2 or target_id = $2)
       and ${linksSeen(3)}
     order by created_at, relation, source_id, target_id limit 200`,
    [tenant, id, scopes ?? null],
  );
}
