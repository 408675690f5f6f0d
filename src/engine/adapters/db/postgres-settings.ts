/**
 * Settings for one transaction, without a round trip of their own. In front of a single statement they are a statement of the same
 * implicit transaction, which ends with the one Sync message after both: a pooler that lends connections by the transaction cannot
 * come between them, and nothing is left on the connection.
 */
import pg from "pg";
import type { Settings } from "./port.ts";

/** How the driver hands the server's messages to a query. */
interface Handlers {
  handleError(error: Error, connection: Named): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: unknown): void;
}

/** What the driver knows of named statements: those that it has sent and the server has not answered yet. */
interface Named {
  readonly submittedNamedStatements: Record<string, string>;
}

type Statement = pg.Query & Handlers & { name?: string | undefined };

const SETTERS: Record<number, string> = {};

/** One text for each number of settings, so that the server sees few different statements. */
function setterFor(count: number): string {
  SETTERS[count] ??=
    `select ${Array.from({ length: count }, (_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, true)`).join(", ")}`;
  return SETTERS[count];
}

export const hasSettings = (settings: Settings): boolean => Object.keys(settings).length > 0;

/** The first message of a transaction. SET, unlike a select of set_config, leaves its isolation level open to be chosen. */
export const beginWith = (settings: Settings): string =>
  [
    "begin",
    ...Object.entries(settings).map(
      ([name, value]) => `set local ${pg.escapeIdentifier(name)} = ${pg.escapeLiteral(value)}`,
    ),
  ].join("; ");

export function queryWith(client: pg.ClientBase, query: pg.QueryConfig, settings: Settings): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const statement = new pg.Query(query, (error, result) =>
      error ? reject(error) : resolve(result as pg.QueryResult),
    ) as Statement;
    client.query(precede(statement, Object.entries(settings).flat()));
  });
}

function precede(statement: Statement, values: string[]): Statement {
  const { submit, name, handleDataRow, handleCommandComplete, handleError } = statement;
  statement.submit = (connection) => {
    connection.stream.cork();
    try {
      connection.parse({ name: "", text: setterFor(values.length / 2), types: [] }, true);
      connection.bind({ portal: "", statement: "", binary: "", values }, true);
      connection.execute({ portal: "", rows: "" }, true);
      return submit.call(statement, connection);
    } finally {
      // The driver would take the settings, which are parsed first, for the statement of this name.
      statement.name = undefined;
      connection.stream.uncork();
    }
  };
  // The answer to the settings comes first: one row, and the end of the command.
  statement.handleDataRow = () => undefined;
  statement.handleCommandComplete = () => {
    statement.name = name;
    statement.handleDataRow = handleDataRow;
    statement.handleCommandComplete = handleCommandComplete;
  };
  statement.handleError = (error, connection) => {
    if (name !== undefined) delete connection.submittedNamedStatements[name];
    handleError.call(statement, error, connection);
  };
  return statement;
}
