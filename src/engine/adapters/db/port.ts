/**
 * The interface to a PostgreSQL-compatible store. Both implementations return the same values:
 * int8 → string, timestamptz → Date, bytea → Uint8Array, json/jsonb → parsed, arrays → arrays, uuid/text → string.
 * Parameters: Date for timestamptz, Uint8Array for bytea, arrays for arrays, and JSON.stringify(x) for `$n::jsonb`.
 */
import type { PoolUse } from "../../domain/health/measurements.ts";

export type { PoolUse };

export type Row = Record<string, unknown>;

export interface Sql {
  query<R = Row>(text: string, params?: readonly unknown[]): Promise<R[]>;
}

export interface Db extends Sql {
  readonly kind: "pglite" | "postgres";
  /** Runs `work` in one transaction: commit when it resolves, roll back when it throws. Inside, use only the `sql` it is given. */
  tx<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Several statements without parameters, not wrapped in a transaction of ours (DDL, VACUUM, CHECKPOINT). */
  exec(script: string): Promise<void>;
  /** Maintenance that a server does by itself: checkpoint, and at level `full` vacuum. */
  maintain?(level: "light" | "full"): Promise<void>;
  /** True when the store will never answer again (a full disk stops the embedded one): close it and open it anew. */
  isDead?(): boolean;
  /** Absent for the embedded store, which has one connection. */
  pool?(): PoolUse;
  close(): Promise<void>;
}
