/** SQL for the benchmark of a fleet: how large every table is, and what waits to be learned from, over all tenants. */
import type { Sql } from "../../engine/adapters/db/port.ts";

export interface TableSize {
  readonly table: string;
  readonly rows: number;
  /** With its indexes and what is stored out of line. */
  readonly bytes: number;
}

/** Partitions count as the table that they belong to. Rows are counted, not estimated: statistics are behind after a day of writes. */
export async function tableSizes(sql: Sql): Promise<TableSize[]> {
  const tables = await sql.query<{ table: string; bytes: number }>(
    `select c.relname as table, sum(pg_total_relation_size(coalesce(t.relid::oid, c.oid)))::float8 as bytes
     from pg_class c join pg_namespace n on n.oid = c.relnamespace left join lateral pg_partition_tree(c.oid) t on true
     where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition
     group by c.relname order by bytes desc`,
  );
  const sizes: TableSize[] = [];
  for (const { table, bytes } of tables) {
    const [count] = await sql.query<{ rows: number }>(`select count(*)::float8 as rows from "${table}"`);
    sizes.push({ table, rows: count?.rows ?? 0, bytes });
  }
  return sizes;
}

export interface Backlog {
  readonly waiting: number;
  /** Of the oldest episode that waits. */
  readonly age_hours: number;
}

export async function backlogAt(sql: Sql, now: Date): Promise<Backlog> {
  const [row] = await sql.query<Backlog>(
    `select count(*)::float8 as waiting,
       coalesce(extract(epoch from $1::timestamptz - min(created_at)) / 3600, 0)::float8 as age_hours
     from episodes where consolidation_status = 'pending' and validity = 'active'`,
    [now],
  );
  return row ?? { waiting: 0, age_hours: 0 };
}
