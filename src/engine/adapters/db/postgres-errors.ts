/** Errors of a PostgreSQL server or of the connection to it, and for each the sentence that says what to do. */
import { errorCode, MemoryError, unavailable } from "../../domain/errors.ts";
import type { PostgresTarget } from "./postgres-target.ts";

interface Trouble {
  /** A SQLSTATE, or the code of an error of the operating system. */
  readonly code: RegExp;
  /** Only for errors that the driver makes itself: those have no code. */
  readonly message?: RegExp;
  sentence(target: PostgresTarget, error: Error): string;
}

/** Covers both a new connection and the wait for a free one, so a nested use of a full pool fails instead of hanging. */
export const CONNECT_TIMEOUT_MS = 20_000;
const NO_SUCH_DATABASE = "3D000";

const ALWAYS: readonly Trouble[] = [
  {
    code: /^53300$/,
    sentence: ({ server }) =>
      `PostgreSQL at ${server} has no connection left: raise its max_connections or lower the pool size`,
  },
  {
    code: /^57P03$/,
    sentence: ({ server }) => `PostgreSQL at ${server} is starting or stopping: try again in a moment`,
  },
];

const CONNECTING: readonly Trouble[] = [
  {
    code: /^(ECONNREFUSED|ENOENT)$/,
    sentence: ({ server }) =>
      `No PostgreSQL answers at ${server}: start it, or correct host and port in the database URL`,
  },
  {
    code: /^(ENOTFOUND|EAI_AGAIN)$/,
    sentence: ({ server }) =>
      `The host of ${server} cannot be resolved: correct it in the database URL, or check the name service`,
  },
  {
    code: /^28/,
    message: /^SASL/,
    sentence: ({ server, user }) =>
      `PostgreSQL at ${server} refused the user "${user}": correct user and password in the database URL, or allow the user in pg_hba.conf`,
  },
  {
    code: /^42501$/,
    sentence: ({ server, user, database }) =>
      `PostgreSQL at ${server} does not let the user "${user}" into the database "${database}": its owner has to run: grant connect on database "${database}" to "${user}";`,
  },
  {
    code: new RegExp(`^${NO_SUCH_DATABASE}$`),
    sentence: ({ server, database }) =>
      `PostgreSQL at ${server} has no database "${database}": create it, or correct the database URL`,
  },
  {
    // pgvector's library is preloaded, and an old one refuses the settings of iterative scans.
    code: /^42602$/,
    sentence: ({ server }) => `pgvector at ${server} is older than 0.8: update it, or use the pgvector/pgvector image`,
  },
  {
    code: /^ETIMEDOUT$/,
    message: /timeout/i,
    sentence: ({ server }) =>
      `PostgreSQL at ${server} gave no connection within ${CONNECT_TIMEOUT_MS / 1000} s: check host, port and firewall, or raise the pool size`,
  },
  {
    code: /^/,
    sentence: ({ server }, { message }) =>
      `PostgreSQL at ${server} cannot be used (${message}): check the database URL`,
  },
];

const CONNECTED: readonly Trouble[] = [
  {
    code: /^(08...|57P0.|25P03|ECONN\w+|EPIPE|ETIMEDOUT|EHOST\w+|ENET\w+)$/,
    message: /^Connection terminated|not queryable/,
    sentence: ({ server }) =>
      `The connection to PostgreSQL at ${server} was lost: check that the server runs, then try again`,
  },
];

/** Trouble with the server or the connection becomes `unavailable`, with the sentence of the first row that fits; another error is returned as it is. */
export function explainPostgres(error: unknown, target: PostgresTarget, when: "connecting" | "connected"): unknown {
  if (!(error instanceof Error) || error instanceof MemoryError) return error;
  const code = errorCode(error) ?? "";
  const fits = (trouble: Trouble) => trouble.code.test(code) || trouble.message?.test(error.message);
  const trouble = [...ALWAYS, ...(when === "connecting" ? CONNECTING : CONNECTED)].find(fits);
  return trouble ? unavailable(trouble.sentence(target, error), error) : error;
}

/** Whether opening failed because the server has no such database. */
export const isMissingDatabase = (error: unknown): boolean =>
  error instanceof MemoryError && errorCode(error.cause) === NO_SUCH_DATABASE;
