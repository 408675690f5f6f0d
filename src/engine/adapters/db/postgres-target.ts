/** Which server, database and user a database URL names. */
import { unavailable } from "../../domain/errors.ts";

export interface PostgresTarget {
  readonly url: string;
  readonly server: string;
  readonly database: string;
  readonly user: string;
}

export function parseTarget(url: string, database?: string): PostgresTarget {
  try {
    const parsed = new URL(url);
    if (!/^postgres(ql)?:$/.test(parsed.protocol)) throw new TypeError("Another protocol");
    if (database !== undefined) parsed.pathname = `/${encodeURIComponent(database)}`;
    const host = decodeURIComponent(parsed.hostname) || parsed.searchParams.get("host") || "localhost";
    return {
      url: parsed.href,
      server: `${host}:${parsed.port || "5432"}`,
      database: decodeURIComponent(parsed.pathname.slice(1)),
      user: decodeURIComponent(parsed.username),
    };
  } catch {
    // The parser's error is not passed on: it quotes the URL, and with it the password.
    throw unavailable(
      "The database URL cannot be read: write it as postgres://user:password@host:5432/database, with special characters percent-encoded",
    );
  }
}
