/**
 * Rows on their way from one store to another: as the text of a whole row, which every type of column reads back to the bit, while
 * numbers in a payload would lose digits as JavaScript's.
 */
import type { Settings, Sql } from "../../adapters/db/port.ts";
import type { MovedTable } from "./tables.ts";

/** How values are written as text, whatever a server was set to; the embedded store is set to the same. */
export const TEXT_SETTINGS: Settings = {
  datestyle: "ISO, MDY",
  intervalstyle: "postgres",
  bytea_output: "hex",
  extra_float_digits: "1",
};

export interface KeyDigest {
  readonly key: string;
  readonly rows: number;
  readonly digest: string;
}

type Keyed = MovedTable & { readonly key: NonNullable<MovedTable["key"]> };

export const isKeyed = (table: MovedTable): table is Keyed => table.key !== undefined;

/** One digest for all rows that share the first column of the primary key, in its order; beyond `after` and up to `until`, where given. */
export function keyDigests(
  sql: Sql,
  { name, key: { column, type } }: Keyed,
  after: string | undefined,
  until: string | undefined,
  limit: number | undefined,
): Promise<KeyDigest[]> {
  return sql.query<KeyDigest>(
    `select t.${column}::text as key, count(*)::int4 as rows, encode(sha256(convert_to(
       string_agg(t::text, E'\\n' order by t::text collate "C"), 'UTF8')), 'hex') as digest
     from ${name} t
     where ($1::text is null or t.${column} > $1::text::${type}) and ($2::text is null or t.${column} <= $2::text::${type})
     group by t.${column} order by t.${column} limit $3`,
    [after ?? null, until ?? null, limit ?? null],
  );
}

/** The rows of these keys, and those that they refer to, however far. */
export async function rowTexts(sql: Sql, table: Keyed, keys: readonly string[]): Promise<string[]> {
  const { name, key, refersTo } = table;
  const chosen = `t.${key.column} = any($1::text[]::${key.type}[])`;
  const text =
    refersTo === undefined
      ? `select t::text as row from ${name} t where ${chosen}`
      : `with recursive needed (id) as (
           select t.${key.column} from ${name} t where ${chosen}
           union select t.${refersTo} from ${name} t join needed n on t.${key.column} = n.id where t.${refersTo} is not null)
         select t::text as row from ${name} t join needed n on n.id = t.${key.column}`;
  return (await sql.query<{ row: string }>(text, [keys])).map(({ row }) => row);
}

/** Rows that are there already stay: one that others refer to came with them. */
export async function putRows(sql: Sql, { name, columns, primary }: MovedTable, rows: readonly string[]) {
  const again = primary.length === 0 ? "" : `on conflict (${primary.join(", ")}) do nothing`;
  await sql.query(
    `insert into ${name} (${columns.join(", ")}) overriding system value
     select ${columns.map((column) => `t.${column}`).join(", ")} from unnest($1::text[]::${name}[]) as t ${again}`,
    [rows],
  );
}

export async function dropKeys(sql: Sql, { name, key: { column, type } }: Keyed, keys: readonly string[]) {
  await sql.query(`delete from ${name} where ${column} = any($1::text[]::${type}[])`, [keys]);
}

export async function dropAll(sql: Sql, { name }: MovedTable): Promise<void> {
  await sql.query(`delete from ${name}`);
}

/** Every row of a table as text, in the order of the text's bytes, a page at a time. For use in a transaction, sorted once. */
export async function openRows(sql: Sql, { name }: MovedTable) {
  const cursor = `moved_${name}`;
  await sql.query(`declare ${cursor} cursor for select t::text as row from ${name} t order by t::text collate "C"`);
  return {
    next: async (limit: number): Promise<string[]> =>
      (await sql.query<{ row: string }>(`fetch ${Number(limit)} from ${cursor}`)).map(({ row }) => row),
    end: () => sql.query(`close ${cursor}`),
  };
}
