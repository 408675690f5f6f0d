/** The scopes in which something is remembered. */
import type { Sql } from "../../adapters/db/port.ts";

const TABLES = [
  { table: "facts", column: "scope", live: "validity in ('active', 'fading')" },
  { table: "rules", column: "scope", live: "validity <> 'retracted'" },
  { table: "episodes", column: "butler", live: "validity = 'active'" },
] as const;

/** Steps from one scope to the next in an index that begins with it: as many reads as there are scopes, however many rows they hold. */
const steps = ({ table, column, live }: (typeof TABLES)[number]): string => {
  const next = (after: string) =>
    `(select ${column} from ${table} where tenant_id = $1 and ${live}${after} order by ${column} limit 1)`;
  return `select scope from (with recursive s (scope) as (
      select ${next("")} union all select ${next(` and ${column} > s.scope`)} from s where s.scope is not null)
    select scope from s where scope is not null) ${table}_scopes`;
};

export async function listScopes(sql: Sql, tenant: string, limit: number): Promise<string[]> {
  const rows = await sql.query<{ scope: string }>(`${TABLES.map(steps).join(" union ")} order by scope limit $2`, [
    tenant,
    limit,
  ]);
  return rows.map(({ scope }) => scope);
}
