/** Reading the stream to rebuild rows from it, and writing the rows that come out. */
import type { Db, Sql } from "../../adapters/db/port.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import type { Ledger, ReplayEvent, RowJson } from "../../domain/replay.ts";
import { insertRows } from "../memories/rows.ts";
import { recountMarks } from "./undo.ts";

export const MEMORY_TABLE: Readonly<Record<MemoryType, string>> = { episode: "episodes", fact: "facts", rule: "rules" };

/** Everything the stream must rebuild. The first column of each primary key is a uuid. */
export const REPLAYED: Readonly<Record<string, readonly string[]>> = {
  episodes: ["id"],
  facts: ["id"],
  rules: ["id"],
  rule_applications: ["id"],
  memory_links: ["source_id", "target_id", "relation"],
  episode_references: ["episode_id", "session_id", "day"],
};

export async function countEvents(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ n: string }>("select count(*) as n from memory_events");
  return Number(row?.n ?? 0);
}

/** A loose index scan: one look per tenant instead of one per event. */
export async function tenantsWithEvents(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ tenant_id: string }>(
    `with recursive t (tenant_id) as (
       (select tenant_id from memory_events order by tenant_id limit 1)
       union all
       select (select e.tenant_id from memory_events e where e.tenant_id > t.tenant_id order by e.tenant_id limit 1)
       from t where t.tenant_id is not null)
     select tenant_id from t where tenant_id is not null`,
  );
  return rows.map((row) => row.tenant_id);
}

/** Within a tenant `seq` is the order of commits, so a reader that goes on after its last `seq` misses nothing. */
export function readEvents(sql: Sql, tenant: string, after: string, limit: number): Promise<ReplayEvent[]> {
  return sql.query<ReplayEvent>(
    `select seq, tenant_id, event_type, entity_type, entity_id, occurred_at, actor, session_id, payload
     from memory_events where tenant_id = $1 and seq > $2::int8 order by seq limit $3`,
    [tenant, after, limit],
  );
}

export type Columns = Readonly<Record<string, readonly string[]>>;

/** Asked of the catalogue, so that a column that a later migration adds is replayed too. */
export async function replayedColumns(sql: Sql): Promise<Columns> {
  const rows = await sql.query<{ name: string; columns: string[] }>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.oid = any($1::regclass[]) and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     group by c.relname`,
    [Object.keys(REPLAYED)],
  );
  return Object.fromEntries(rows.map((row) => [row.name, row.columns]));
}

export async function loadRows(sql: Sql, type: MemoryType, ids: ReadonlySet<string>): Promise<Map<string, RowJson>> {
  if (ids.size === 0) return new Map();
  const rows = await sql.query<{ id: string; row: RowJson }>(
    `select id, to_jsonb(t) as row from ${MEMORY_TABLE[type]} t where id = any($1::uuid[])`,
    [[...ids]],
  );
  return new Map(rows.map(({ id, row }) => [id, row]));
}

/** One statement a table. Rows that give up a unique key come before rows that may take it over. */
export async function writeLedger(sql: Sql, columns: Columns, ledger: Ledger): Promise<void> {
  for (const type of ["episode", "fact", "rule"] as const) {
    const gone = [...ledger.deleted[type]];
    if (gone.length > 0) {
      await sql.query(`delete from ${MEMORY_TABLE[type]} where id = any($1::uuid[])`, [gone]);
      if (type === "episode")
        await sql.query(`delete from episode_references where episode_id = any($1::uuid[])`, [gone]);
    }
    const rows = [...ledger.memories[type].values()].toSorted((a, b) => holds(a) - holds(b));
    await upsert(sql, MEMORY_TABLE[type], columns, rows);
  }
  await put(sql, "rule_applications", columns, ledger.applications, "on conflict do nothing");
  await recountMarks(
    sql,
    [...ledger.recounted].map(([id, counted]) => ({ id, counted })),
  );
  await dropLinks(sql, [...ledger.unlinked.values()]);
  await put(sql, "memory_links", columns, ledger.links, "on conflict do nothing");
  const meetings = [...ledger.meetings.values()].map((meeting): RowJson => ({ ...meeting }));
  const add =
    "on conflict (episode_id, session_id, day, tenant_id) do update set n = episode_references.n + excluded.n";
  await put(sql, "episode_references", columns, meetings, add);
}

/** Link keys come from events, which name no tenant in them; ids are unique over all tenants. */
async function dropLinks(sql: Sql, links: readonly RowJson[]): Promise<void> {
  if (links.length === 0) return;
  await sql.query(
    `delete from memory_links l using jsonb_populate_recordset(null::memory_links, $1::jsonb) as u
     where (l.source_id, l.target_id, l.relation) = (u.source_id, u.target_id, u.relation)`,
    [JSON.stringify(links)],
  );
}

const HOLDS: Readonly<Record<string, number>> = { retracted: 0, superseded: 1, expired: 2, fading: 3, active: 3 };
const holds = (row: RowJson): number => HOLDS[String(row.validity)] ?? 3;

async function upsert(sql: Sql, table: string, columns: Columns, rows: readonly RowJson[]): Promise<void> {
  const changed = (columns[table] ?? []).filter((column) => column !== "id");
  const set = changed.map((column) => `${column} = excluded.${column}`).join(", ");
  await put(sql, table, columns, rows, `on conflict (id, tenant_id) do update set ${set}`);
}

async function put(sql: Sql, table: string, columns: Columns, rows: readonly RowJson[], tail: string): Promise<void> {
  await insertRows(sql, table, columns[table] ?? [], rows, tail);
}

/**
 * Drops every constraint and index but the primary keys of a scratch store: what a broken stream rebuilds must come out as a
 * difference to look at, not as a refused insert. It is also several times faster without the indexes.
 */
export async function dropConstraints(scratch: Db): Promise<void> {
  const tables = Object.keys(REPLAYED);
  const statements = await scratch.query<{ statement: string }>(
    `select statement from (
       select 1 as step, format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement
       from pg_constraint where conrelid = any($1::regclass[]) and contype in ('f', 'c', 'u')
       union all
       select 2, format('drop index %s', indexrelid::regclass)
       from pg_index where indrelid = any($1::regclass[]) and not indisprimary
       union all
       select 3, format('alter table %s alter %I drop not null', a.attrelid::regclass, a.attname)
       from pg_attribute a where a.attrelid = any($1::regclass[]) and a.attnum > 0 and a.attnotnull
         and not exists (select 1 from pg_index i where i.indrelid = a.attrelid and i.indisprimary
           and a.attnum = any(i.indkey))) as s
     order by step, statement`,
    [tables],
  );
  await scratch.exec(statements.map(({ statement }) => `${statement};`).join("\n"));
}
