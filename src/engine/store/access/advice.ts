/** What an administrator of a server can do so that row security binds as much as it can, in words with the SQL to run. */
import type { Sql } from "../../adapters/db/port.ts";
import type { StoreAccess } from "./roles.ts";
import { declareLeakproof, LEAKPROOF } from "./row-security.ts";

export interface Weakness {
  readonly found: string;
  readonly remedy: string;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Undefined where tenants' calls have a role of their own. */
export function roleMissing({ roles, login }: StoreAccess): Weakness | undefined {
  if (roles.tenant !== undefined) return undefined;
  const tenants = quoted(`${(roles.owner ?? login).slice(0, 56)}_tenant`);
  return {
    found: `there is no role for the calls of tenants: they run as the owner of the tables, which row security binds too, but which may do everything`,
    remedy: `An administrator has to run: create role ${tenants} nologin; grant ${tenants} to ${quoted(login)}; The next start of the memory uses it.`,
  };
}

export async function weaknesses(sql: Sql, access: StoreAccess): Promise<Weakness[]> {
  const { login, exempt, owns, roles } = access;
  const found: (Weakness | undefined)[] = [roleMissing(access)];
  if (exempt)
    found.push({
      found: `the user ${quoted(login)} of the database URL is not bound by row security: one statement of ours outside of a tenant's call would see every tenant`,
      remedy: `An administrator has to run: create role butler login createdb password '…'; and, connected to this database: ${handOver("butler", roles.tenant)} Then name that role in the database URL.`,
    });
  else if (owns) {
    const owner = quoted(`${login.slice(0, 57)}_owner`);
    const inherit = (await version(sql)) >= 16 ? " with inherit false" : `; alter role ${quoted(login)} noinherit`;
    found.push({
      found: `the user ${quoted(login)} of the database URL owns the tables and may switch row security off`,
      remedy: `An administrator has to run, connected to this database: create role ${owner} nologin; grant ${owner} to ${quoted(login)}${inherit}; reassign owned by ${quoted(login)} to ${owner}; The next start of the memory acts as the owner only where it has to.`,
    });
  }
  if (!(await leakproof(sql)))
    found.push({
      found:
        "lists and searches by name, tag and session read more than they return, because row security keeps them from indexes",
      remedy: `An administrator has to run, connected to this database: ${declareLeakproof("leakproof").join("; ")};`,
    });
  return found.filter((weakness) => weakness !== undefined);
}

/** REASSIGN OWNED refuses a superuser that the server itself needs, so each table and function is given away by itself. */
const handOver = (to: string, tenants: string | undefined): string =>
  `do $$ declare thing text; begin
    execute format('alter database %I owner to ${to}', current_database());
    for thing in select format('table %I', relname) from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
      union all select format('function %s', p.oid::regprocedure) from pg_proc p where pronamespace = 'public'::regnamespace
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    loop execute format('alter %s owner to ${to}', thing); end loop; end $$;${tenants === undefined ? "" : ` grant ${quoted(tenants)} to ${to};`}`.replace(
    /\s+/g,
    " ",
  );

async function version(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ number: number }>("select current_setting('server_version_num')::int4 as number");
  return Math.floor((row?.number ?? 0) / 10_000);
}

async function leakproof(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ declared: boolean }>(
    "select bool_and(p.proleakproof) as declared from unnest($1::text[]) as f (name) join pg_proc p on p.oid = f.name::regprocedure",
    [LEAKPROOF.map((name) => `pg_catalog.${name}`)],
  );
  return row?.declared ?? false;
}
