/** One shelf per tenant, scope and memory type: what postings, statistics and vectors are filed under. */
import type { Sql } from "../adapters/db/port.ts";
import { MEMORY_TYPES, type MemoryType } from "../domain/memory-types.ts";

export interface Shelf {
  readonly sk: number;
  readonly scope: string;
  readonly type: MemoryType;
}

export interface Shelves {
  /** The shelves of these scopes, made if missing; every scope of the tenant when `scopes` is undefined. */
  of(tenant: string, scopes: readonly string[] | undefined): Promise<readonly Shelf[]>;
}

/** Shelves are never removed, so a known one may be remembered for good. */
export function openShelves(sql: Sql): Shelves {
  const known = new Map<string, readonly Shelf[]>();
  const keyOf = (tenant: string, scope: string) => `${tenant}\u0000${scope}`;

  async function make(tenant: string, scope: string): Promise<readonly Shelf[]> {
    const remembered = known.get(keyOf(tenant, scope));
    if (remembered) return remembered;
    await sql.query(
      `insert into shelves (tenant_id, scope, type) select $1, $2, unnest($3::text[]) on conflict do nothing`,
      [tenant, scope, MEMORY_TYPES],
    );
    const shelves = await sql.query<Shelf>(
      `select sk, scope, type from shelves where tenant_id = $1 and scope = $2 order by sk`,
      [tenant, scope],
    );
    known.set(keyOf(tenant, scope), shelves);
    return shelves;
  }

  return {
    async of(tenant, scopes) {
      if (scopes === undefined)
        return sql.query<Shelf>(`select sk, scope, type from shelves where tenant_id = $1 order by sk`, [tenant]);
      const found = await Promise.all([...new Set(scopes)].map((scope) => make(tenant, scope)));
      return found.flat();
    },
  };
}
