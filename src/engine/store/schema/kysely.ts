/** A Kysely dialect over our own port, so that one migration chain runs on both stores. */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql as raw,
} from "kysely";
import type { Db, Sql } from "../../adapters/db/port.ts";

interface HeldConnection extends DatabaseConnection {
  finish(failed: boolean): Promise<void>;
  failed: boolean;
}

/** The port's transactions are callbacks, while Kysely begins and ends a transaction itself: a held connection keeps the callback open. */
function hold(db: Db): Promise<HeldConnection> {
  return new Promise((resolve, reject) => {
    const ended = db.tx(
      (sql) =>
        new Promise<void>((commit, rollBack) => {
          resolve(heldConnection(sql, (failed) => (failed ? rollBack(ROLLED_BACK) : commit())));
        }),
    );
    ended.catch((error) => (error === ROLLED_BACK ? undefined : reject(error)));

    function heldConnection(sql: Sql, end: (failed: boolean) => void): HeldConnection {
      return {
        failed: false,
        async finish(failed) {
          end(failed);
          await ended.catch((error) => {
            if (error !== ROLLED_BACK) throw error;
          });
        },
        async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
          return { rows: await sql.query<R>(query.sql, query.parameters) };
        },
        // biome-ignore lint/correctness/useYield: the interface wants a generator; migrations never stream.
        async *streamQuery() {
          throw new Error("streaming is not part of the migration dialect");
        },
      };
    }
  });
}

const ROLLED_BACK = new Error("rolled back");

function driver(db: Db): Driver {
  const held = (connection: DatabaseConnection) => connection as HeldConnection;
  return {
    init: async () => undefined,
    acquireConnection: () => hold(db),
    beginTransaction: async () => undefined,
    commitTransaction: async () => undefined,
    rollbackTransaction: async (connection) => {
      held(connection).failed = true;
    },
    releaseConnection: (connection) => held(connection).finish(held(connection).failed),
    destroy: async () => undefined,
  };
}

const LOCK = ["set local lock_timeout = 0", "select pg_advisory_xact_lock(3853314791062309107)"];

/** One process at a time changes the schema, for as long as its transaction lasts. */
export async function lockMigrations(sql: Sql): Promise<void> {
  for (const statement of LOCK) await sql.query(statement);
}

/**
 * A held connection is one transaction from its lock to its release. Kysely's own lock is the session's: it would be given
 * back before the commit, to a second process that cannot see the first one's tables yet, and after a failure it would
 * stay with the pooled connection. The transaction's lock ends with the transaction, whichever way that goes.
 */
class MigrationAdapter extends PostgresAdapter {
  override async acquireMigrationLock(db: Kysely<unknown>): Promise<void> {
    for (const statement of LOCK) await raw.raw(statement).execute(db);
  }

  override async releaseMigrationLock(): Promise<void> {}
}

export function kyselyOver(db: Db): Kysely<unknown> {
  const dialect: Dialect = {
    createAdapter: () => new MigrationAdapter(),
    createDriver: () => driver(db),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
  return new Kysely({ dialect });
}
