/** Checks the rights of the database user and of others; each message has the SQL that an administrator has to run. */
import { unavailable } from "../../domain/errors.ts";
import type { Sql } from "./port.ts";

/**
 * PostgreSQL lets every role of a server connect to a new database. Whoever is connected may take our advisory locks, which stops
 * every write, and may look at activity; no role but the owner needs to connect.
 */
export const closeToPublic = (database: string): string =>
  `revoke connect, temporary on database ${quoted(database)} from public`;

export const createDatabaseFor = (database: string, user: string): string =>
  `create database ${quoted(database)} owner ${quoted(user)}; ${closeToPublic(database)};`;

interface Rights {
  readonly role: string;
  readonly database: string;
  readonly superuser: boolean;
  readonly installed: boolean;
  readonly may_create: boolean;
  readonly trusted: boolean;
  readonly public_connects: boolean;
}

const RIGHTS = `select current_user as role, current_database() as database,
    current_setting('is_superuser') = 'on' as superuser,
    exists (select from pg_extension where extname = 'vector') as installed,
    has_database_privilege(current_database(), 'create') as may_create,
    coalesce((select bool_or(v.trusted) from pg_available_extension_versions v
       join pg_available_extensions e on e.name = v.name and e.default_version = v.version
      where v.name = 'vector'), false) as trusted,
    has_database_privilege('public', current_database(), 'connect') as public_connects`;

async function rightsIn(sql: Sql): Promise<Rights> {
  const [rights] = await sql.query<Rights>(RIGHTS);
  if (rights === undefined) throw unavailable("PostgreSQL did not tell what its user may do");
  return rights;
}

/** Refuses a butler's own database in which the migrations would fail for lack of a right. */
export async function checkRights(sql: Sql): Promise<void> {
  const { role, database, superuser, installed, may_create, trusted } = await rightsIn(sql);
  // The packages of pgvector differ in whether the owner of a database may install it ("trusted") or a superuser alone.
  if (installed || superuser || (may_create && trusted)) return;
  const owner = may_create ? "" : ` alter database ${quoted(database)} owner to ${quoted(role)};`;
  throw unavailable(
    `The user "${role}" may not create the extension vector in the database "${database}". An administrator has to run, connected to "${database}": create extension if not exists vector;${owner}`,
  );
}

/** A warning when the role is a superuser. */
export async function superuserWarning(sql: Sql): Promise<string | undefined> {
  const { role, superuser } = await rightsIn(sql);
  if (!superuser) return undefined;
  return `The user "${role}" is a superuser of PostgreSQL: whoever gets hold of the database URL owns the whole server. Use a role of its own: create role butler login createdb password '…'; and, connected to template1, so that every new database has it: create extension if not exists vector;`;
}

/** A warning when other roles of the server may connect to a butler's database. */
export async function openDatabaseWarning(sql: Sql): Promise<string | undefined> {
  const { database, public_connects } = await rightsIn(sql);
  if (!public_connects) return undefined;
  return `Every role of this PostgreSQL server may connect to the database "${database}" and hold up its writes. Its owner has to run: ${closeToPublic(database)};`;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
