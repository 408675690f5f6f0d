/** Makes parts ahead, and takes away those that have become empty. Each is a short change of the catalogue under a short lock. */
import type { Db, Sql } from "../../adapters/db/port.ts";
import { addMonths, firstIdOf, HASHES, type PartedTable, partName } from "../../domain/partitions.ts";
import { WORK_SETTING } from "../access/access.ts";
import { nameOfRest } from "./parts.ts";

/** Who waits longer for a lock holds up everybody who comes after. */
export const SHORT_WAIT = "set local lock_timeout = '3s'";

/** Keys that cannot hold over all parts, because the time is not in them, hold within each. */
const WITHIN: Readonly<Record<PartedTable, string>> = {
  memory_events: "(seq, tenant_id)",
  episodes: "(tenant_id, butler, content_key) where validity = 'active'",
};

/**
 * Rows are reached through the whole table, whose policies and rights count there. A part by itself is the owner's alone, and its
 * events are as unchangeable as all.
 */
const guardPart = (table: PartedTable, part: string): string[] => [
  `alter table ${part} enable row level security, force row level security`,
  `create policy whole_store on ${part} to current_user using ((select current_setting('${WORK_SETTING}', true)) <> '')`,
  ...(table === "memory_events"
    ? [
        `create trigger memory_events_no_change before delete or update or truncate on ${part}
           for each statement execute function memory_events_append_only()`,
      ]
    : []),
];

/** In one round trip: locks are held meanwhile. */
export const runAll = (sql: Sql, statements: readonly string[]): Promise<unknown> =>
  sql.query(`do $all$ begin\n${statements.join(";\n")};\nend $all$`);

async function makeMonth(sql: Sql, table: PartedTable, month: Date): Promise<string> {
  const name = partName(table, month);
  const range = `for values from ('${firstIdOf(month)}') to ('${firstIdOf(addMonths(month, 1))}')`;
  const hashes = Array.from({ length: HASHES }, (_, n) => n);
  await runAll(sql, [
    `create table ${name} partition of ${table} ${range}${table === "episodes" ? " partition by hash (tenant_id)" : ""}`,
    ...(table === "episodes"
      ? hashes.map(
          (n) =>
            `create table ${name}_${n} partition of ${name} for values with (modulus ${HASHES}, remainder ${n}) with (fillfactor = 85)`,
        )
      : []),
    `create unique index on ${name} ${WITHIN[table]}`,
    ...(table === "episodes"
      ? [name, ...hashes.map((n) => `${name}_${n}`)].flatMap((part) => guardPart(table, part))
      : guardPart(table, name)),
  ]);
  return name;
}

/** A month that is missing, in a transaction of its own; one that another daemon has made meanwhile is left. */
export const addMonth = (db: Db, table: PartedTable, month: Date): Promise<string> =>
  db.tx(async (sql) => {
    await sql.query(SHORT_WAIT);
    await sql.query(`lock table ${table} in access exclusive mode`);
    const name = partName(table, month);
    const [there] = await sql.query<{ is: boolean }>("select to_regclass($1) is not null as is", [name]);
    return there?.is ? name : makeMonthWithStrays(sql, table, month);
  });

/** For ids of a time that no part is there for: nothing is ever refused. */
export async function makeRest(sql: Sql, table: PartedTable): Promise<void> {
  const name = nameOfRest(table);
  await runAll(sql, [
    `create table ${name} partition of ${table} default`,
    `create unique index on ${name} ${WITHIN[table]}`,
    ...guardPart(table, name),
  ]);
}

/** A month whose rows have come before its part did: they are taken over from the rest. */
async function makeMonthWithStrays(sql: Sql, table: PartedTable, month: Date): Promise<string> {
  const rest = nameOfRest(table);
  const inMonth = `id >= '${firstIdOf(month)}' and id < '${firstIdOf(addMonths(month, 1))}'`;
  const strays = await sql.query(`select from ${rest} where ${inMonth} limit 1`);
  if (strays.length === 0) return makeMonth(sql, table, month);
  const aside = `${table}_strays`;
  await runAll(sql, [`alter table ${table} detach partition ${rest}`, `alter table ${rest} rename to ${aside}`]);
  const name = await makeMonth(sql, table, month);
  await makeRest(sql, table);
  const [columns] = await sql.query<{ list: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as list from pg_attribute
     where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  // Into the parts themselves: through the whole table, events would be counted once more.
  const copy = (to: string, where: string) =>
    `insert into ${to} (${columns?.list}) overriding system value select ${columns?.list} from ${aside} where ${where}`;
  await runAll(sql, [copy(name, inMonth), copy(rest, `not (${inMonth})`), `drop table ${aside}`]);
  return name;
}

/**
 * Rows leave a table only as its rules allow: events under a checkpoint or a receipt, episodes when their time is over. So a part
 * without rows may go as it is. The lock keeps anybody from adding one meanwhile.
 */
export async function dropIfEmpty(sql: Sql, table: PartedTable, part: string): Promise<boolean> {
  const some = () => sql.query(`select from ${part} limit 1`);
  if ((await some()).length > 0) return false;
  await sql.query(`lock table ${part} in access exclusive mode`);
  if ((await some()).length > 0) return false;
  await runAll(sql, [`alter table ${table} detach partition ${part}`, `drop table ${part}`]);
  return true;
}
