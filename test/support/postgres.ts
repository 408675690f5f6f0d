import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { startServer } from "../../scripts/postgres/server.ts";

interface RunningServer {
  readonly url: string;
  /** Names of databases of this run begin so. */
  readonly prefix: string;
  stop(): Promise<void>;
}

/**
 * The server of a test run: the one that BUTLER_TEST_DATABASE_URL names (its user must be allowed to create databases
 * and the extension `vector`), or a throw-away one. Throws with the reason when there is none to be had.
 */
export async function startPostgres(): Promise<RunningServer> {
  const given = process.env.BUTLER_TEST_DATABASE_URL;
  const prefix = `test_${randomBytes(4).toString("hex")}_`;
  if (given === undefined || given === "") return { ...(await startServer()), prefix };
  await administer(given, (client) => client.query("select 1")).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The server that BUTLER_TEST_DATABASE_URL names cannot be used: ${reason}`, { cause: error });
  });
  return { url: given, prefix, stop: () => dropAll(given, prefix) };
}

/** Stores that are kept from file to file have no test that drops them. */
async function dropAll(url: string, prefix: string): Promise<void> {
  await administer(url, async (client) => {
    const { rows } = await client.query("select datname from pg_database where starts_with(datname, $1)", [prefix]);
    for (const { datname } of rows) await client.query(`drop database if exists ${quote(datname)} with (force)`);
  });
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** An empty database of its own, so that test files can run side by side. */
export function freshDatabase(url: string): Promise<TestDatabase> {
  return create(url, "");
}

/** A copy of a database made by `templateDatabase`; faster than running the migrations again. */
export function cloneDatabase(url: string, template: string): Promise<TestDatabase> {
  return create(url, `template ${quote(template)}`);
}

/**
 * Makes a database once per server, whichever test file comes first, and closes it for good: a database with a
 * connection cannot be cloned. Name it after what `prepare` does (a digest of the migrations), for a server that is kept.
 */
export async function templateDatabase(url: string, name: string, prepare: (url: string) => Promise<void>) {
  await administer(url, async (client) => {
    // Held by this connection until it ends; another process waits here and then finds the work done.
    await client.query("select pg_advisory_lock(hashtext($1))", [name]);
    const { rows } = await client.query("select datistemplate from pg_database where datname = $1", [name]);
    if (rows[0]?.datistemplate === true) return;
    // A run that was killed half-way leaves a database without the mark.
    await client.query(`drop database if exists ${quote(name)} with (force)`);
    await client.query(`create database ${quote(name)}`);
    await prepare(withDatabase(url, name));
    await client.query(`alter database ${quote(name)} with is_template true allow_connections false`);
    // Connections that `prepare` has closed may take a moment to leave the server.
    await client.query("select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1", [name]);
  });
  return name;
}

async function create(url: string, clause: string): Promise<TestDatabase> {
  const name = `${inject("databasePrefix")}${randomBytes(8).toString("hex")}`;
  await administer(url, (client) => client.query(`create database ${quote(name)} ${clause}`));
  return {
    url: withDatabase(url, name),
    drop: async () => {
      await administer(url, (client) => client.query(`drop database if exists ${quote(name)} with (force)`));
    },
  };
}

/** Runs `work` on a connection of its own to the URL's database. */
export async function administer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 20_000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(name)}`;
  return changed.href;
}

const quote = (name: string) => pg.escapeIdentifier(name);
