/**
 * Divides a table beside its readers and writers. The rows that are there are not moved: the table becomes the first part of a new one of
 * the same name. First a rule says that all its ids are below a boundary ahead, and is checked while everybody goes on; then one short
 * transaction exchanges the two. So an interruption leaves the table as it was, at most with that rule, and the same again goes on.
 */
import type { Db, Sql } from "../../adapters/db/port.ts";
import { unavailable } from "../../domain/errors.ts";
import { firstBoundary, firstIdOf, isNear, type PartedTable, timeOfId } from "../../domain/partitions.ts";
import { SECURE_TABLES } from "../access/row-security.ts";
import { lockMigrations } from "../schema/kysely.ts";
import { makeRest, runAll, SHORT_WAIT } from "./make-part.ts";
import { nameOfBefore, nameOfBoundary, readParts } from "./parts.ts";

const MOST_YEARS_AHEAD = 2;

/** Sets the boundary, or takes the one that an interrupted division has set. */
export async function setBoundary(db: Db, table: PartedTable, now: Date): Promise<Date> {
  const { begun } = await readParts(db, table);
  const boundary = begun !== undefined && !isNear(begun, now) ? begun : await newBoundary(db, table, now);
  await db.exec(`alter table ${table} validate constraint ${nameOfBoundary(table)}`);
  return boundary;
}

async function newBoundary(db: Db, table: PartedTable, now: Date): Promise<Date> {
  const [latest] = await db.query<{ id: string }>(`select id from ${table} order by id desc limit 1`);
  if (latest && timeOfId(latest.id).getTime() > now.getTime() + MOST_YEARS_AHEAD * 366 * 86_400_000)
    throw unavailable(
      `${table} has the id ${latest.id}, whose time is ${timeOfId(latest.id).toISOString()}: it cannot be divided by time.`,
    );
  const boundary = firstBoundary(now, latest?.id);
  const name = nameOfBoundary(table);
  await db.tx(async (sql) => {
    await sql.query(SHORT_WAIT);
    await sql.query(`alter table ${table} drop constraint if exists ${name}`);
    await sql.query(`alter table ${table} add constraint ${name} check (id < '${firstIdOf(boundary)}') not valid`);
  });
  return boundary;
}

/** Without it, what stopped half-way would refuse rows from the boundary on. */
export async function dropBoundary(sql: Sql, table: PartedTable): Promise<void> {
  await sql.query(`alter table ${table} drop constraint if exists ${nameOfBoundary(table)}`);
}

interface Found {
  readonly indexes: readonly { readonly name: string; readonly definition: string; readonly unique: boolean }[];
  readonly triggers: readonly { readonly name: string; readonly definition: string }[];
  readonly sequence: { readonly column: string; readonly name: string; readonly next: string } | undefined;
}

async function look(sql: Sql, table: PartedTable): Promise<Found> {
  const indexes = await sql.query<Found["indexes"][number]>(
    `select c.relname as name, pg_get_indexdef(i.indexrelid) as definition, i.indisunique as unique
     from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = to_regclass($1) order by 1`,
    [table],
  );
  const triggers = await sql.query<Found["triggers"][number]>(
    `select tgname as name, pg_get_triggerdef(oid) as definition from pg_trigger
     where tgrelid = to_regclass($1) and not tgisinternal order by 1`,
    [table],
  );
  const [numbered] = await sql.query<{ column: string; name: string }>(
    `select a.attname as column, pg_get_serial_sequence($1, a.attname) as name from pg_attribute a
     where a.attrelid = to_regclass($1) and a.attidentity <> ''`,
    [table],
  );
  if (numbered === undefined) return { indexes, triggers, sequence: undefined };
  const [last] = await sql.query<{ next: string }>(
    `select (last_value + is_called::int4)::text as next from ${numbered.name}`,
  );
  return { indexes, triggers, sequence: { ...numbered, next: last?.next ?? "1" } };
}

/** One transaction. The table is locked for the time that it takes to write the catalogue, however large it is. */
export const divide = (db: Db, table: PartedTable, boundary: Date): Promise<void> =>
  db.tx(async (sql) => {
    await lockMigrations(sql);
    await sql.query(SHORT_WAIT);
    await sql.query(`lock table ${table} in access exclusive mode`);
    if ((await readParts(sql, table)).parted) return;
    const { indexes, triggers, sequence } = await look(sql, table);
    const before = nameOfBefore(table);
    const rule = nameOfBoundary(table);
    const statements = [
      ...indexes.map(({ name }) => `alter index ${name} rename to ${name}_before`),
      // Those that refuse changes stay, for whoever turns to the part itself; the others come back on the whole.
      ...triggers
        .filter(({ name }) => !name.endsWith("_no_change"))
        .map(({ name }) => `drop trigger ${name} on ${table}`),
      ...(sequence ? [`alter table ${table} alter ${sequence.column} drop identity`] : []),
      `alter table ${table} rename to ${before}`,
      `create table ${table} (like ${before} including defaults including generated including constraints including storage)
         partition by range (id)`,
      `alter table ${table} drop constraint ${rule}`,
      `alter table ${table} add constraint ${table}_pkey primary key (id, tenant_id)`,
      ...indexes.filter(({ unique }) => !unique).map(({ definition }) => definition),
      `alter table ${table} attach partition ${before} for values from (minvalue) to ('${firstIdOf(boundary)}')`,
      `alter table ${before} drop constraint ${rule}`,
      ...(sequence
        ? [
            `alter table ${table} alter ${sequence.column} add generated always as identity (sequence name ${sequence.name} start with ${sequence.next})`,
          ]
        : []),
      ...triggers.map(({ definition }) => definition),
      ...(table === "episodes" ? ONCE : []),
    ];
    await runAll(sql, statements);
    await makeRest(sql, table);
    await sql.query(REVOKE(before));
    await sql.query(SECURE_TABLES);
  });

/** Nobody but the owner turns to a part. */
const REVOKE = (part: string) => `do $revoke$
  declare given text;
  begin
    for given in select distinct g.rolname from pg_class c cross join lateral aclexplode(c.relacl) x join pg_roles g on g.oid = x.grantee
      where c.oid = '${part}'::regclass and x.grantee <> c.relowner
    loop
      execute format('revoke all on ${part} from %I', given);
    end loop;
    drop policy if exists of_tenant on ${part};
  end $revoke$`;

/**
 * That a live episode is not stored twice is a unique index while there are no parts, and within each of them. Over all of them this
 * holds it: who stores the same text waits for the other, and then finds it. A repeated episode is left out, as the index would have it.
 */
const ONCE = [
  `create or replace function episodes_only_once() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(hashtextextended(concat_ws(chr(10), new.tenant_id, new.butler, encode(new.content_key, 'hex')), 7032));
      if exists (select from episodes e where e.tenant_id = new.tenant_id and e.butler = new.butler
          and e.content_key = new.content_key and e.validity = 'active' and e.id <> new.id) then
        if tg_op = 'INSERT' then
          return null;
        end if;
        raise exception 'an episode with this text is live already'
          using errcode = 'unique_violation', constraint = 'episodes_once', table = 'episodes';
      end if;
      return new;
    end $$`,
  `create trigger episodes_once before insert on episodes
     for each row when (new.validity = 'active') execute function episodes_only_once()`,
  `create trigger episodes_once_again before update of validity on episodes
     for each row when (new.validity = 'active' and old.validity <> 'active') execute function episodes_only_once()`,
];
