/** The schema as text, from the catalogs: the same on every store, so that a change of it is seen in review. */
import type { Db } from "../../src/engine/adapters/db/port.ts";

interface Column {
  readonly table_name: string;
  readonly line: string;
}

/** Objects that belong to an extension are not ours to describe. */
const OURS = (oid: string, catalog: string) =>
  `not exists (select from pg_depend d where d.objid = ${oid} and d.classid = '${catalog}'::regclass and d.deptype = 'e')`;

const COLUMNS = `
  select c.relname as table_name,
    '  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || case when a.attnotnull then ' not null' else '' end
      || case when a.attidentity <> '' then ' generated always as identity'
              when a.attgenerated <> '' then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
              when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end
      || case when a.attstorage <> t.typstorage then ' storage ' || a.attstorage::text else '' end as line
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and ${OURS("c.oid", "pg_class")}
  order by c.relname collate "C", a.attnum`;

/** Versions from 18 on list NOT NULL among the constraints; it stands with its column already. */
const CONSTRAINTS = `
  select c.relname as table_name, '  constraint ' || k.conname || ' ' || pg_get_constraintdef(k.oid) as line
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  where c.relnamespace = current_schema()::regnamespace and k.contype <> 'n'
  order by c.relname collate "C", k.conname collate "C"`;

const UNLOGGED = `select relname as name from pg_class where relkind = 'r' and relpersistence = 'u' and relnamespace = current_schema()::regnamespace`;

const OPTIONS = `
  select relname as table_name, 'with (' || array_to_string(reloptions, ', ') || ')' as line
  from pg_class where relkind = 'r' and reloptions is not null and relnamespace = current_schema()::regnamespace`;

/** Without the names of roles, which differ from store to store: a policy is for all or for the owner, a right is a tenant's. */
const ROW_SECURITY = [
  `select 'alter table ' || relname || case when relrowsecurity then ' enable' else ' disable' end || ' row level security'
     || case when relforcerowsecurity then ', force row level security' else '' end || ';' as line
   from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace order by relname collate "C"`,
  `select 'create policy ' || p.polname || ' on ' || c.relname || case when p.polroles = '{0}' then '' else ' to owner' end
     || ' using (' || regexp_replace(pg_get_expr(p.polqual, p.polrelid), '\\s+', ' ', 'g') || ')'
     || coalesce(' with check (' || regexp_replace(pg_get_expr(p.polwithcheck, p.polrelid), '\\s+', ' ', 'g') || ')', '') || ';' as line
   from pg_policy p join pg_class c on c.oid = p.polrelid
   where c.relnamespace = current_schema()::regnamespace order by c.relname collate "C", p.polname collate "C"`,
  `select 'grant ' || string_agg(lower(x.privilege_type), ', ' order by x.privilege_type) || ' on ' || c.relname || ' to tenants;' as line
   from pg_class c cross join lateral aclexplode(c.relacl) x
   where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and x.grantee <> c.relowner
   group by c.relname order by c.relname collate "C"`,
];

/** Triggers that a store has once it was searched: engine/store/read-model/. */
const READ_MODEL = "^(changed|noted)_[0-9]";

const REST = [
  `select indexdef || ';' as line from pg_indexes where schemaname = current_schema()
     and indexname not in (select conname from pg_constraint)
   order by tablename collate "C", indexname collate "C"`,
  `select pg_get_triggerdef(t.oid) || ';' as line from pg_trigger t join pg_class c on c.oid = t.tgrelid
   where not t.tgisinternal and t.tgname !~ '${READ_MODEL}' and c.relnamespace = current_schema()::regnamespace order by t.tgname collate "C"`,
  `select pg_get_functiondef(p.oid) || ';' as line from pg_proc p
   where p.pronamespace = current_schema()::regnamespace and ${OURS("p.oid", "pg_proc")} and p.proname !~ '${READ_MODEL}'
   order by p.proname collate "C"`,
  ...ROW_SECURITY,
];

export async function dumpSchema(db: Db): Promise<string> {
  const columns = await db.query<Column>(COLUMNS);
  const constraints = await db.query<Column>(CONSTRAINTS);
  const options = new Map((await db.query<Column>(OPTIONS)).map((o) => [o.table_name, ` ${o.line}`]));
  const unlogged = (await db.query<{ name: string }>(UNLOGGED)).map(({ name }) => name);
  const tables = [...new Set(columns.map((column) => column.table_name))].map((table) => {
    const lines = [...columns, ...constraints].filter((row) => row.table_name === table).map((row) => row.line);
    return `create ${unlogged.includes(table) ? "unlogged " : ""}table ${table} (\n${lines.join(",\n")}\n)${options.get(table) ?? ""};`;
  });
  const rest: string[] = [];
  for (const query of REST) {
    const rows = await db.query<{ line: string }>(query);
    rest.push(rows.map((row) => row.line.trim()).join("\n"));
  }
  return `${[...tables, ...rest.filter((part) => part !== "")].join("\n\n")}\n`;
}
