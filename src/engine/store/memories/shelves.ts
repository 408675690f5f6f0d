/**
 * A shelf is one partition of the search indexes: postings, statistics and vectors are kept by (tenant, scope, memory type),
 * and a search reads only those that its caller may see.
 */
import type { Sql } from "../../adapters/db/port.ts";
import { lruCache } from "../../domain/collections/lru-cache.ts";
import { MEMORY_TYPES, type MemoryType } from "../../domain/memory-types.ts";

export interface Shelf {
  readonly sk: number;
  readonly scope: string;
  readonly type: MemoryType;
}

/** Another object after each change of what a search from memory can find. */
export type Revision = object;

/** Rows of the search index carry the tenant of their shelf. Null, which they refuse, for a shelf that is another tenant's or not there. */
export const TENANT_OF_SHELF = (sk: string): string =>
  `(select shelf.tenant_id from shelves shelf where shelf.sk = ${sk})`;

export interface Shelves {
  /**
   * The shelves of these scopes, made if missing. Inside a transaction its `within` must be given: an embedded store has one connection, and
   * would wait for itself for ever.
   */
  of(tenant: string, scopes: readonly string[], within?: Sql): Promise<readonly Shelf[]>;
  /**
   * For readers: those that there are; of every scope of the tenant when `scopes` is undefined. Whoever may only look leaves no row behind,
   * whatever scopes and projects it names. A search from memory says of which state of the memory it is: a scope that had no shelves
   * then has nothing on them that it could find.
   */
  find(sql: Sql, tenant: string, scopes: readonly string[] | undefined, revision?: Revision): Promise<readonly Shelf[]>;
}

/** Readers may name any scope: of so many it is remembered that they have no shelves. */
const MOST_ABSENT = 1_000;

/**
 * Shelves are never removed, so a known one may be remembered for good. That a scope has none (a new project, or `global` where nothing was
 * stored for all) is remembered where nobody else can make them (`alone`), and else for one revision: asking anew took an embedded store a
 * millisecond of every search, and five behind other work.
 */
export function openShelves(storeOf: (tenant: string) => Sql, { alone }: { readonly alone: boolean }): Shelves {
  const known = new Map<string, readonly Shelf[]>();
  const absent = lruCache<string, Revision>(MOST_ABSENT);
  /** Begun to be made, maybe in a transaction that is not committed yet: none of these is taken for absent any more. */
  const made = new Set<string>();
  const keyOf = (tenant: string, scope: string) => `${tenant}\u0000${scope}`;
  const isAbsent = (key: string, revision: Revision | undefined): boolean => {
    const since = made.has(key) ? undefined : absent.get(key);
    return since !== undefined && (alone || since === revision);
  };

  async function make(tenant: string, scope: string, within: Sql | undefined): Promise<readonly Shelf[]> {
    const remembered = known.get(keyOf(tenant, scope));
    if (remembered) return remembered;
    made.add(keyOf(tenant, scope));
    const at = within ?? storeOf(tenant);
    await at.query(
      `insert into shelves (tenant_id, scope, type) select $1, $2, unnest($3::text[]) on conflict do nothing`,
      [tenant, scope, MEMORY_TYPES],
    );
    const shelves = await at.query<Shelf>(
      `select sk, scope, type from shelves where tenant_id = $1 and scope = $2 order by sk`,
      [tenant, scope],
    );
    // A transaction may still roll back, and its shelves with it.
    if (within === undefined) known.set(keyOf(tenant, scope), shelves);
    return shelves;
  }

  return {
    async of(tenant, scopes, within) {
      const found = await Promise.all([...new Set(scopes)].map((scope) => make(tenant, scope, within)));
      return found.flat();
    },
    async find(sql, tenant, scopes, revision) {
      if (scopes === undefined)
        return sql.query<Shelf>(`select sk, scope, type from shelves where tenant_id = $1 order by sk`, [tenant]);
      const wanted = [...new Set(scopes)];
      const unknown = wanted.filter((scope) => {
        const key = keyOf(tenant, scope);
        return !known.has(key) && !isAbsent(key, revision);
      });
      if (unknown.length > 0) {
        // A replica may not have what the memory has.
        const at = revision === undefined ? sql : storeOf(tenant);
        const found = await at.query<Shelf>(
          `select sk, scope, type from shelves where tenant_id = $1 and scope = any($2::text[]) order by sk`,
          [tenant, unknown],
        );
        for (const scope of new Set(found.map((shelf) => shelf.scope)))
          known.set(
            keyOf(tenant, scope),
            found.filter((shelf) => shelf.scope === scope),
          );
        for (const key of unknown.map((scope) => keyOf(tenant, scope)))
          if (!known.has(key)) absent.set(key, revision ?? {});
      }
      return wanted.flatMap((scope) => known.get(keyOf(tenant, scope)) ?? []);
    },
  };
}
