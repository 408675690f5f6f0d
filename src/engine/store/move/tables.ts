/**
 * The tables of a store as its catalogue describes them, so that one that a later migration adds is moved too. What is unlogged is of no use
 * elsewhere.
 */
import type { Sql } from "../../adapters/db/port.ts";
import { MIGRATION_TABLES } from "../schema/names.ts";
import { MOVE_TABLE } from "../schema/unfinished-move.ts";

export interface MovedTable {
  readonly name: string;
  /** Without generated ones. */
  readonly columns: readonly string[];
  readonly primary: readonly string[];
  /** The first column of the primary key and its type, where it sorts alike everywhere: texts sort by the collation of each database. */
  readonly key: { readonly column: string; readonly type: string } | undefined;
  /** A column with the key of another row of the table, which must be there first. */
  readonly refersTo: string | undefined;
  /** Numbers rows; the next number moves with them. */
  readonly sequence: string | undefined;
}

interface Described extends Omit<MovedTable, "key" | "refersTo" | "sequence"> {
  readonly types: readonly string[];
  readonly self: string | null;
  readonly sequence: string | null;
  /** Tables that must be filled before. */
  readonly needs: readonly string[];
}

const SORTED_ALIKE = new Set(["uuid", "smallint", "integer", "bigint"]);

const DESCRIBE = `
  select c.relname as name,
    (select array_agg(quote_ident(a.attname) order by a.attnum) from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
    coalesce((select array_agg(quote_ident(a.attname) order by k.place) from pg_index i
      cross join unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
      where i.indrelid = c.oid and i.indisprimary), '{}') as "primary",
    coalesce((select array_agg(format_type(a.atttypid, null) order by k.place) from pg_index i
      cross join unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
      where i.indrelid = c.oid and i.indisprimary), '{}') as types,
    (select quote_ident(a.attname) from pg_constraint f join pg_attribute a on a.attrelid = c.oid and a.attnum = f.conkey[1]
      where f.conrelid = c.oid and f.contype = 'f' and f.confrelid = c.oid limit 1) as self,
    (select pg_get_serial_sequence(quote_ident(c.relname), a.attname) from pg_attribute a
      where a.attrelid = c.oid and a.attidentity <> '' limit 1) as sequence,
    coalesce((select array_agg(distinct o.relname::text) from pg_constraint f join pg_class o on o.oid = f.confrelid
      where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid), '{}') as needs
  from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and c.relpersistence = 'p' and not c.relispartition and c.relname <> all ($1::text[])
    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
  order by c.relname`;

/**
 * In an order in which rows can be written. Those without a key that sorts alike come last: among them are counts, which triggers write
 * when other rows come in, and which are replaced by those of the source.
 */
export async function movedTables(sql: Sql): Promise<MovedTable[]> {
  const except = [...Object.values(MIGRATION_TABLES), MOVE_TABLE];
  const waiting = await sql.query<Described>(DESCRIBE, [except]);
  const order: Described[] = [];
  while (waiting.length > 0) {
    const next = waiting.findIndex(({ needs }) => needs.every((name) => order.some((table) => table.name === name)));
    order.push(...waiting.splice(Math.max(0, next), 1));
  }
  const tables = order.map(({ types, self, sequence, needs: _, ...table }): MovedTable => {
    const [column] = table.primary;
    const [type = ""] = types;
    return {
      ...table,
      key: column !== undefined && SORTED_ALIKE.has(type) ? { column, type } : undefined,
      refersTo: self ?? undefined,
      sequence: sequence ?? undefined,
    };
  });
  return [...tables.filter(({ key }) => key), ...tables.filter(({ key }) => !key)];
}

export async function countRows(sql: Sql, table: MovedTable): Promise<number> {
  const [row] = await sql.query<{ n: string }>(`select count(*) as n from ${table.name}`);
  return Number(row?.n ?? 0);
}

/** The last number that was given out, as text; `null` before the first. */
export async function lastNumber(sql: Sql, sequence: string): Promise<string | null> {
  const [row] = await sql.query<{ last: string; called: boolean }>(
    `select last_value as last, is_called as called from ${sequence}`,
  );
  return row?.called ? row.last : null;
}

export async function setLastNumber(sql: Sql, sequence: string, last: string | null): Promise<void> {
  if (last !== null) await sql.query("select setval($1::regclass, $2::int8)", [sequence, last]);
}
