/** Which roles a store is used with, read when it is opened. */
import type { Sql } from "../../adapters/db/port.ts";
import type { StoreRoles } from "./access.ts";

export interface StoreAccess {
  readonly roles: StoreRoles;
  readonly login: string;
  /** The user of the connection is a superuser, or exempt from row security. */
  readonly exempt: boolean;
  /** The user of the connection owns the tables. */
  readonly owns: boolean;
  /** The tables have their policies, and the owner of today may work on all rows. */
  readonly policed: boolean;
}

/** From version 16 on a membership may exclude taking the role. */
const MAY_TAKE = `case when current_setting('server_version_num')::int4 >= 160000 then 'set' else 'member' end`;

export async function readAccess(sql: Sql): Promise<StoreAccess> {
  const [row] = await sql.query<{
    login: string;
    exempt: boolean;
    database_owner: string | null;
    table_owner: string | null;
    tenant: string | null;
    policed: boolean;
  }>(
    `select session_user::text as login, me.rolsuper or me.rolbypassrls as exempt,
       (select o.rolname from pg_roles o where o.oid = d.datdba and pg_has_role(me.oid, o.oid, ${MAY_TAKE})) as database_owner,
       pg_get_userbyid(t.relowner)::text as table_owner,
       (select g.rolname from aclexplode(t.relacl) x join pg_roles g on g.oid = x.grantee
         where x.privilege_type = 'INSERT' and x.grantee <> t.relowner and not g.rolcanlogin
           and not g.rolsuper and not g.rolbypassrls and pg_has_role(me.oid, g.oid, ${MAY_TAKE})
         order by g.rolname limit 1) as tenant,
       exists (select from pg_policy p where p.polrelid = t.oid and p.polname = 'whole_store'
         and t.relowner = any (p.polroles)) as policed
     from pg_roles me join pg_database d on d.datname = current_database()
       left join pg_class t on t.oid = to_regclass('memory_events')
     where me.rolname = session_user`,
  );
  if (row === undefined) throw new Error("PostgreSQL did not tell who is connected");
  const { login, exempt, tenant, policed } = row;
  const owner = row.table_owner ?? row.database_owner ?? login;
  return {
    roles: { tenant: tenant ?? undefined, owner: exempt || owner === login ? undefined : owner },
    login,
    exempt,
    owns: owner === login,
    policed,
  };
}
