/** The parts of a table, as the catalogue has them, and how large they are. */
import type { Sql } from "../../adapters/db/port.ts";
import { PARTED, type Part, type PartedTable, partOf, timeOfId } from "../../domain/partitions.ts";

export const nameOfRest = (table: PartedTable): string => `${table}_rest`;
/** The rows from before there were parts. */
export const nameOfBefore = (table: PartedTable): string => `${table}_before`;
/** A rule on the rows that are there, by which they need not be read again when they become a part. */
export const nameOfBoundary = (table: PartedTable): string => `${table}_until`;

/** The tables that hold the rows of one: itself, or its parts and theirs. */
export const heldBy = (oid: string): string =>
  `select held.oid from pg_class held where held.relkind = 'r'
     and held.oid in (select ${oid} union all select tree.relid from pg_partition_tree(${oid}) tree)`;

export interface TableParts {
  readonly table: PartedTable;
  readonly parted: boolean;
  readonly parts: readonly Part[];
  /** As the planner estimates them. */
  readonly rows: number;
  readonly bytes: number;
  /** Where a division was begun and not finished: the boundary that is set. */
  readonly begun: Date | undefined;
}

export async function readParts(sql: Sql, table: PartedTable): Promise<TableParts> {
  const [row] = await sql.query<{ parted: boolean; rows: number; bytes: number; begun: string | null }>(
    `select c.relkind = 'p' as parted,
       (select coalesce(sum(greatest(l.reltuples, 0)), 0)::float8 from pg_class l where l.oid in (${heldBy("c.oid")})) as rows,
       (select coalesce(sum(pg_total_relation_size(l.oid)), 0)::float8 from (${heldBy("c.oid")}) l) as bytes,
       (select substring(pg_get_constraintdef(k.oid) from '''([0-9a-f-]{36})''') from pg_constraint k
         where k.conrelid = c.oid and k.conname = $2) as begun
     from pg_class c where c.oid = to_regclass($1)`,
    [table, nameOfBoundary(table)],
  );
  if (row === undefined) throw new Error(`there is no table ${table}`);
  const parts = row.parted ? await partsOf(sql, table) : [];
  return {
    table,
    parted: row.parted,
    parts,
    rows: row.rows,
    bytes: row.bytes,
    begun: row.begun === null ? undefined : timeOfId(row.begun),
  };
}

export const partsOf = async (sql: Sql, table: PartedTable): Promise<readonly Part[]> =>
  (await partsOfAll(sql, [table]))[0] ?? [];

/** Those of each table that has some, in one look. */
export async function partsOfAll(sql: Sql, tables: readonly PartedTable[] = PARTED): Promise<(readonly Part[])[]> {
  const rows = await sql.query<{ whole: string; name: string; bound: string }>(
    `select i.inhparent::regclass::text as whole, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent in (select to_regclass(t) from unnest($1::text[]) as t) order by 1, 2`,
    [tables],
  );
  return tables
    .map((table) => rows.filter(({ whole }) => whole === table).map(({ name, bound }) => partOf(name, bound)))
    .filter((parts) => parts.length > 0);
}
