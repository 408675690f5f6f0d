/** A store whose statements are timed and whose failures are counted. */
import { type Meter, secondsSince } from "../meter.ts";
import type { Db, Sql } from "./port.ts";
import { wrapDb } from "./wrap.ts";

export function measuredDb<D extends Db>(db: D, meter: Meter, butler: string): D {
  const timed = (sql: Sql): Sql["query"] =>
    async function query<R>(text: string, params?: readonly unknown[]): Promise<R[]> {
      const started = performance.now();
      try {
        return await sql.query<R>(text, params);
      } catch (error) {
        meter.count("butler_store_errors_total", { butler });
        throw error;
      } finally {
        meter.observe("butler_store_statement_seconds", { butler }, secondsSince(started));
      }
    };
  return wrapDb(db, (inner) => ({
    query: timed(inner),
    tx: (work) => inner.tx((sql) => work({ query: timed(sql) })),
  }));
}
