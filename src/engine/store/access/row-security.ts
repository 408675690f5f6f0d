/**
 * Row security of every table that holds something of a tenant: the policies, and the rights of the tenants' role. A migration that
 * adds such a table adds it here and runs `SECURE_TABLES` at its end; what is in order already is left as it is.
 */
import { TENANT_SETTING, WORK_SETTING } from "./access.ts";

/** Asked once a statement: as a call it would be made for every row. */
const TENANT = `(select current_setting('${TENANT_SETTING}', true))`;
const OF_TENANT = `tenant_id = ${TENANT}`;
/** Entries of the search index are kept by shelf. A shelf is a tenant's: row security of the table of shelves holds in here too. */
const ON_SHELF = (sk: string) => `${sk} = any (array(select s.sk from shelves s))`;

/** A posting block's key is the number of its shelf, then 40 bits of the word: `blockKey`. */
const SHELF_OF_BLOCK = "(key >> 40)::int4";

interface Secured {
  /** What a tenant's call may do. */
  readonly rights: string;
  readonly rows: string;
}

const READ_ADD = "select, insert";
const READ_ADD_CHANGE = "select, insert, update";
const ALL = "select, insert, update, delete";

export const SECURED: Readonly<Record<string, Secured>> = {
  memory_events: { rights: READ_ADD, rows: OF_TENANT },
  idempotency_keys: { rights: READ_ADD, rows: OF_TENANT },
  // An episode that has expired makes way for one that says the same.
  episodes: { rights: ALL, rows: OF_TENANT },
  facts: { rights: READ_ADD_CHANGE, rows: OF_TENANT },
  rules: { rights: READ_ADD_CHANGE, rows: OF_TENANT },
  // An undo takes back links and counts marks no more.
  memory_links: { rights: "select, insert, delete", rows: OF_TENANT },
  episode_references: { rights: ALL, rows: OF_TENANT },
  rule_applications: { rights: READ_ADD_CHANGE, rows: OF_TENANT },
  erasure_receipts: { rights: "select", rows: OF_TENANT },
  event_checkpoints: { rights: "select", rows: OF_TENANT },
  consolidation_runs: { rights: ALL, rows: OF_TENANT },
  event_hours: { rights: READ_ADD_CHANGE, rows: OF_TENANT },
  event_totals: { rights: READ_ADD_CHANGE, rows: OF_TENANT },
  shelves: { rights: READ_ADD_CHANGE, rows: OF_TENANT },
  lex_doc: { rights: ALL, rows: ON_SHELF("sk") },
  lex_block: { rights: ALL, rows: ON_SHELF(SHELF_OF_BLOCK) },
  lex_long: { rights: ALL, rows: ON_SHELF(SHELF_OF_BLOCK) },
  embeddings: { rights: ALL, rows: ON_SHELF("sk") },
  // Triggers write it in the name of whoever changes a memory.
  changed_memories: { rights: "insert", rows: OF_TENANT },
};

/**
 * Functions in the conditions of our indexes. Under row security PostgreSQL looks into an index only with functions that are declared
 * not to give away what they are called with, by an error for instance; these are not, though none of them does. Only a superuser may
 * declare it, for one database. Undeclared, a search that names a person reads the names of all turns, and lists by tag, session,
 * reader and reading read all rows of the tenant.
 */
export const LEAKPROOF = [
  "lower(text)",
  "split_part(text, text, int4)",
  "textlike(text, text)",
  "arraycontains(anyarray, anyarray)",
  "jsonb_object_field(jsonb, text)",
  "jsonb_object_field_text(jsonb, text)",
  "jsonb_extract_path_text(jsonb, text[])",
  "jsonb_exists_any(jsonb, text[])",
  "jsonb_path_query_array(jsonb, jsonpath, jsonb, boolean)",
] as const;

export const declareLeakproof = (declared: "leakproof" | "not leakproof"): readonly string[] =>
  LEAKPROOF.map((name) => `alter function pg_catalog.${name} ${declared}`);

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

const TABLES = Object.entries(SECURED)
  .map(([table, { rights, rows }]) => `(${[table, rights, rows].map(literal).join(", ")})`)
  .join(",\n      ");

/**
 * The role is named after the owner, so that databases of one owner share it and those of another owner of the same server have their
 * own. Whether it may be taken is tried: versions of PostgreSQL differ in what a membership allows. Where it can be neither made nor
 * taken, everything else holds, and tenants' calls run as the owner.
 */
export const SECURE_TABLES = `do $secure$
declare
  tenants text := left(current_user, 56) || '_tenant';
  acting text := current_setting('role');
  usable boolean := false;
  secured record;
begin
  for attempt in 1..2 loop
    begin
      perform set_config('role', tenants, true);
      perform set_config('role', acting, true);
      usable := exists (select from pg_roles where rolname = tenants and not rolsuper and not rolbypassrls and not rolcanlogin);
      exit;
    exception when others then
      exit when attempt = 2;
    end;
    begin
      if not exists (select from pg_roles where rolname = tenants) then
        execute format('create role %I nologin', tenants);
      end if;
    exception when others then null; -- may not, or another database of the server was faster
    end;
    begin
      execute format('grant %I to %I', tenants, session_user);
    exception when others then null;
    end;
  end loop;
  if usable and not has_schema_privilege(tenants, current_schema(), 'usage') then
    execute format('grant usage on schema %I to %I', current_schema(), tenants);
  end if;
  if current_setting('is_superuser') = 'on' then
    ${declareLeakproof("leakproof").join(";\n    ")};
  end if;
  for secured in
    select t.name, t.rights, t.rows, c.oid, c.relowner
    from (values
      ${TABLES}) as t (name, rights, rows)
    join pg_class c on c.oid = to_regclass(t.name)
  loop
    if not exists (
      select from pg_policy p join pg_class c on c.oid = p.polrelid
      where p.polrelid = secured.oid and p.polname = 'whole_store' and secured.relowner = any (p.polroles)
        and c.relrowsecurity and c.relforcerowsecurity)
    then
      execute format('drop policy if exists of_tenant on %I', secured.name);
      execute format('drop policy if exists whole_store on %I', secured.name);
      execute format('create policy of_tenant on %I using (%s) with check (%2$s)', secured.name, secured.rows);
      execute format('create policy whole_store on %I to current_user using ((select current_setting(''${WORK_SETTING}'', true)) <> '''')', secured.name);
      execute format('alter table %I enable row level security, force row level security', secured.name);
    end if;
    if usable then
      execute format('revoke all on %I from %I', secured.name, tenants);
      execute format('grant %s on %I to %I', secured.rights, secured.name, tenants);
    end if;
  end loop;
end $secure$`;

const eachTable = (work: (table: string) => readonly string[]) => Object.keys(SECURED).flatMap(work);

/** Undoes `SECURE_TABLES`. The role stays: other databases of the server may use it. */
export const UNSECURE_TABLES = [
  ...eachTable((table) => [
    `drop policy if exists of_tenant on ${table}`,
    `drop policy if exists whole_store on ${table}`,
    `alter table if exists ${table} no force row level security, disable row level security`,
  ]),
  `do $revoke$
  declare given record;
  begin
    if current_setting('is_superuser') = 'on' then
      ${declareLeakproof("not leakproof").join(";\n      ")};
    end if;
    for given in
      select distinct c.relname, g.rolname from pg_class c cross join lateral aclexplode(c.relacl) x join pg_roles g on g.oid = x.grantee
      where c.relname = any (array[${Object.keys(SECURED).map(literal).join(", ")}]) and c.relnamespace = current_schema()::regnamespace
        and x.grantee <> c.relowner and not g.rolcanlogin
    loop
      execute format('revoke all on %I from %I', given.relname, given.rolname);
    end loop;
  end $revoke$`,
];
