/** Memories by their short id (engine/domain/short-id.ts): a few hundred ranges of the primary key, each of which holds hardly ever a row. */
import type { Sql } from "../../adapters/db/port.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { rangesOf } from "../../domain/short-id.ts";

export interface Named {
  readonly type: MemoryType;
  readonly id: string;
  readonly content: string;
}

export interface NameQuery {
  readonly tenant: string;
  /** Undefined for every scope of the tenant. */
  readonly scopes: readonly string[] | undefined;
  readonly types: readonly MemoryType[];
  readonly now: Date;
}

interface Place {
  readonly table: string;
  readonly scope: string;
  /** What no read finds has no name either. */
  readonly also: string;
}

const PLACES: Readonly<Record<MemoryType, Place>> = {
  episode: { table: "episodes", scope: "butler", also: "and expires_at > $5" },
  fact: { table: "facts", scope: "scope", also: "" },
  rule: { table: "rules", scope: "scope", also: "" },
};

/**
 * Ids that share a short id are as good as never more than two. The limit also keeps the planner from reading the whole table
 * for each range, which it does without statistics: 39 s instead of 6 ms with 200,000 rules.
 */
const MOST = 5;

export async function memoriesNamed(sql: Sql, short: string, query: NameQuery): Promise<Named[]> {
  const found: Named[] = [];
  for (const type of query.types) found.push(...(await namedIn(sql, type, short, query)));
  return found;
}

async function namedIn(sql: Sql, type: MemoryType, short: string, query: NameQuery): Promise<Named[]> {
  const { table, scope, also } = PLACES[type];
  const [ends] = await sql.query<{ oldest: string; newest: string }>(
    `select o.id as oldest, n.id as newest
     from (select id from ${table} order by id limit 1) o, (select id from ${table} order by id desc limit 1) n`,
  );
  if (ends === undefined) return [];
  const ranges = rangesOf(short, ends.oldest, ends.newest);
  const params = [query.tenant, query.scopes ?? null, ranges.map(({ from }) => from), ranges.map(({ to }) => to)];
  const rows = await sql.query<{ id: string; content: string }>(
    `select m.id, m.content from unnest($3::uuid[], $4::uuid[]) as r (low, high)
     cross join lateral (
       select id, left(content, 200) as content from ${table}
       where id between r.low and r.high and tenant_id = $1 and ($2::text[] is null or ${scope} = any($2)) ${also}
       order by id limit ${MOST}) m
     limit ${MOST}`,
    also === "" ? params : [...params, query.now],
  );
  return rows.map((row) => ({ type, ...row }));
}
