/** The provenance graph: edges among episodes, facts and rules, read from both ends. */
import type { Sql } from "../adapters/db/port.ts";
import type { MemoryType, Relation } from "../domain/memory-types.ts";
import { insertRows } from "./rows.ts";

export interface Link {
  readonly tenant_id: string;
  readonly source_type: MemoryType;
  readonly source_id: string;
  readonly target_type: MemoryType;
  readonly target_id: string;
  readonly relation: Relation;
  readonly request_id: string | null;
  readonly created_at: Date;
}

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
