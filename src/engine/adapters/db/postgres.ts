import pg from "pg";
import { unavailable } from "../../domain/errors.ts";
import { type Db, floatsLiteral, type Row, type Settings, type Sql } from "./port.ts";
import { type ByteColumns, byteColumns, oneBuffer, readBytes } from "./postgres-bytes.ts";
import { CONNECT_TIMEOUT_MS, explainPostgres } from "./postgres-errors.ts";
import { keptPlans, type Plans } from "./postgres-plans.ts";
import { beginWith, hasSettings, queryWith } from "./postgres-settings.ts";
import { type PostgresTarget, parseTarget } from "./postgres-target.ts";

export interface PostgresOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /**
   * The same server without the pooler that `url` may lead to. Scripts go there: they hold what no transaction can, so their settings are the
   * connection's, which a pooler that lends connections by the transaction would hand to others.
   */
  readonly directUrl?: string | undefined;
  /** Another database of the same server. */
  readonly database?: string;
  /** Connections at most. One is enough for callers that use only the inner `sql` in a transaction. */
  readonly max?: number;
  readonly applicationName?: string;
}

/**
 * pgvector's names are placeholders until its library is loaded by the first use of a vector, and are taken over then.
 * `exec` lifts the statement timeout; a long statement in a transaction does so with `set local statement_timeout = 0`.
 */
const SESSION = {
  timezone: "UTC",
  statement_timeout: "60s",
  lock_timeout: "30s",
  idle_in_transaction_session_timeout: "5min",
  "hnsw.ef_search": "200",
  "hnsw.iterative_scan": "relaxed_order",
  "ivfflat.probes": "30",
  "ivfflat.iterative_scan": "relaxed_order",
};

/** Behind a pooler that lends connections by the transaction this is what the pooler runs on each of its own: `ops/SERVER.md`. */
export const SESSION_SQL = `select ${Object.entries(SESSION)
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(", ")}`;

/** A connection is not given up between two prompts of a person: a new one takes a handshake, and has planned nothing yet. */
const IDLE_MS = 5 * 60_000;

/** Resolves when a first connection is made, so that a wrong URL shows here and not in the first query. */
export async function openPostgres(options: PostgresOptions): Promise<Db> {
  const target = parseTarget(options.url, options.database);
  const pool = new pg.Pool({
    connectionString: target.url,
    max: options.max ?? 10,
    application_name: options.applicationName ?? "butler",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: prepareSession,
    Client: TidyClient,
  });
  // An idle connection that breaks has already left the pool; without a listener the event would end the process.
  pool.on("error", () => undefined);

  const connect = () =>
    pool.connect().catch((error: unknown) => {
      throw explainPostgres(error, target, "connecting");
    });

  const columns = byteColumns();
  const plans = keptPlans(options.directUrl !== undefined);

  /** Lends a connection for `work`; one whose state is in doubt is destroyed instead of going back. */
  const lend = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
    const client = await connect();
    let spoiled = false;
    const spoil = () => {
      spoiled = true;
    };
    try {
      return await work({ ask: (query, settings) => ask(client, query, settings, target, spoil), spoil, columns });
    } finally {
      client.release(spoiled);
    }
  };

  let closing: Promise<void> | undefined;
  const asked = new Set<Promise<unknown>>();
  const use = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
    if (closing !== undefined) throw unavailable("The store is closed");
    const answer = lend(work);
    asked.add(answer);
    try {
      return await answer;
    } finally {
      asked.delete(answer);
    }
  };
  // A pool that is ended never answers calls that wait for a connection, so it is ended when none does.
  const close = async () => {
    await Promise.allSettled(asked);
    await pool.end();
  };

  const direct = options.directUrl === undefined ? undefined : parseTarget(options.directUrl, target.database);

  (await connect()).release();
  const withSettings = (settings: Settings): Db => ({
    kind: "postgres",
    query: <R>(text: string, params?: readonly unknown[]) =>
      use((session) => plannedRows<R>(session, plans, text, params, settings)),
    tx: (work) => use((session) => transaction(session, work, settings)),
    exec: (script) =>
      direct === undefined
        ? use((session) => execScript(session, script, settings))
        : execDirectly(direct, script, settings),
    withSettings,
    pool: () => ({
      max: pool.options.max,
      in_use: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: () => {
      closing ??= close();
      return closing;
    },
  });
  return withSettings({});
}

/**
 * The driver leaves the socket open when it gives up by itself during the handshake (SCRAM without a password). The
 * server keeps such a connection for a minute, and a DROP DATABASE waits for it that long.
 */
class TidyClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...oneBuffer(), ...config });
    readBytes(this);
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    if (callback === undefined) return super.connect();
    super.connect((error: Error) => {
      // Not awaited: a socket that never opened does not report its end.
      if (error) void this.end();
      callback(error);
    });
    return undefined;
  }
}

interface Session {
  /** Settings are for a query outside of a transaction alone: one that has begun has its own. */
  ask(query: string | pg.QueryConfig, settings?: Settings): Promise<pg.QueryResult>;
  /** The connection must not be used by anybody else. */
  spoil(): void;
  readonly columns: ByteColumns;
}

async function prepareSession(client: pg.ClientBase): Promise<void> {
  // The pool listens only to idle connections. A lent one that breaks between two queries would end the process;
  // its next query fails anyway, and that is where the caller hears of it.
  client.on("error", () => undefined);
  await client.query(SESSION_SQL);
}

/** Errors are explained here, where they can only be of this connection: `work` may also throw an ECONNRESET of another one. */
async function ask(
  client: pg.ClientBase,
  query: string | pg.QueryConfig,
  settings: Settings = {},
  target: PostgresTarget,
  spoil: () => void,
) {
  try {
    if (typeof query !== "string" && hasSettings(settings)) return await queryWith(client, query, settings);
    return await client.query(query);
  } catch (error) {
    // After an ERROR the server goes on with the session, after a FATAL it does not; anything else is the socket's.
    if (!(error instanceof pg.DatabaseError && error.severity === "ERROR")) spoil();
    throw explainPostgres(error, target, "connected");
  }
}

/** Outside of a transaction a statement that failed by its name alone can be asked again. */
async function plannedRows<R>(
  session: Session,
  plans: Plans,
  text: string,
  params: readonly unknown[] | undefined,
  settings: Settings,
): Promise<R[]> {
  const name = plans.nameOf(text);
  try {
    return await rows<R>(session, text, params, settings, name);
  } catch (error) {
    if (name === undefined || !plans.refuse(error)) throw error;
    return rows<R>(session, text, params, settings);
  }
}

/** Uses the extended protocol even without parameters: it refuses a second statement, as the embedded store does. */
async function rows<R>(
  session: Session,
  text: string,
  params: readonly unknown[] = [],
  settings: Settings = {},
  name?: string,
): Promise<R[]> {
  const values = params.map(floatsLiteral);
  const binary = session.columns.formats(text);
  const query = { text, values, queryMode: "extended", binary, ...(name !== undefined && { name }) };
  const { rows: found, fields } = await session.ask(query, settings);
  session.columns.note(text, fields);
  return found;
}

async function transaction<T>(session: Session, work: (sql: Sql) => Promise<T>, settings: Settings): Promise<T> {
  let over = false;
  let failed: unknown;
  let last: Promise<unknown> = Promise.resolve();
  // One after the other: callers may start several at once, the connection takes one at a time.
  const inOrder = <R>(step: () => Promise<R>): Promise<R> => {
    const next = last.then(step);
    last = next.catch(() => undefined);
    return next;
  };
  const sql: Sql = {
    query: async <R = Row>(text: string, params?: readonly unknown[]) => {
      // The connection may be somebody else's by now.
      if (over) throw new Error("The transaction has ended: its `sql` must not be used any more");
      return inOrder(() => rows<R>(session, text, params)).catch((error: unknown) => {
        // What follows a failure is refused with 25P02, which would hide the reason.
        if (!(error instanceof pg.DatabaseError && error.code === "25P02")) failed = error;
        throw error;
      });
    },
  };

  let result: T;
  try {
    await session.ask(beginWith(settings));
    result = await work(sql);
  } catch (error) {
    over = true;
    // Without an answer to ROLLBACK the connection goes, and the server rolls back by itself.
    await inOrder(() => session.ask("rollback")).catch(session.spoil);
    throw error;
  }
  over = true;
  const { command } = await inOrder(() => session.ask("commit"));
  // The server answers COMMIT with ROLLBACK when a statement had failed and `work` went on as if it had not.
  if (command !== "COMMIT") throw failed;
  return result;
}

async function execDirectly(target: PostgresTarget, script: string, settings: Settings): Promise<void> {
  const client = new TidyClient({ connectionString: target.url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  try {
    await client.connect().catch((error: unknown) => {
      throw explainPostgres(error, target, "connecting");
    });
    await prepareSession(client);
    const spoil = () => undefined;
    const session = {
      ask: (query: string | pg.QueryConfig, under?: Settings) => ask(client, query, under, target, spoil),
      spoil,
    };
    await execScript({ ...session, columns: byteColumns() }, script, settings);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A script may hold what no transaction can (CREATE INDEX CONCURRENTLY), so its settings are the connection's until it ends. */
async function execScript(session: Session, script: string, settings: Settings): Promise<void> {
  const set = { ...settings, statement_timeout: "0" };
  const reset = Object.keys(settings).map((name) => `reset ${pg.escapeIdentifier(name)}`);
  try {
    for (const [name, value] of Object.entries(set))
      await session.ask(`select set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)}, false)`);
    await session.ask(script);
    await session.ask(`set statement_timeout = '${SESSION.statement_timeout}'`);
    for (const statement of reset) await session.ask(statement);
  } catch (error) {
    // The script may have stopped inside of a transaction that it had opened.
    session.spoil();
    throw error;
  }
}
