/**
 * The interface to a PostgreSQL-compatible store. Both implementations return the same values:
 * int8 → string, timestamptz → Date, bytea → Uint8Array, json/jsonb → parsed, arrays → arrays, uuid/text → string.
 * Parameters: Date for timestamptz, Uint8Array for bytea, arrays for arrays, Float32Array for float4[], and JSON.stringify(x) for `$n::jsonb`.
 */
import type { PoolUse, ReplicaUse } from "../../domain/health/measurements.ts";

export type { PoolUse, ReplicaUse };

export type Row = Record<string, unknown>;

/**
 * At the end of a statement that only reads and takes long to plan: a server plans it once for a connection, for any parameters. (The embedded
 * store does so with every statement.) Within a transaction it is planned as all others.
 */
export const PLAN_KEPT = "/* plan kept */";

/** A parameter as drivers take it that know no arrays of floats: those become the text of a float4[], all others stay as they are. */
export const floatsLiteral = (param: unknown): unknown =>
  param instanceof Float32Array ? `{${param.join(",")}}` : param;

export interface Sql {
  query<R = Row>(text: string, params?: readonly unknown[]): Promise<R[]>;
}

/** Settings of PostgreSQL by name; `role` is one of them: the role whose rights count. */
export type Settings = Readonly<Record<string, string>>;

/** `counted`: a reading was counted, and nothing else changed. */
export type ChangeListener = (ids: readonly string[], counted: boolean) => void;

export interface Db extends Sql {
  readonly kind: "pglite" | "postgres";
  /** Runs `work` in one transaction: commit when it resolves, roll back when it throws. Inside, use only the `sql` it is given. */
  tx<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Several statements without parameters, not wrapped in a transaction of ours (DDL, VACUUM, CHECKPOINT). */
  exec(script: string): Promise<void>;
  /**
   * The same store, every transaction of which (a single statement is one) runs with these settings and no others; the next one of
   * anybody else runs without them. Costs no round trip, and holds behind a pooler that lends a connection for a transaction.
   */
  withSettings(settings: Settings): Db;
  /** Maintenance that a server does by itself: checkpoint, and at level `full` vacuum. `turn` is awaited between its statements. */
  maintain?(level: "light" | "full", turn?: () => Promise<void>): Promise<void>;
  /** True when the store will never answer again (a full disk stops the embedded one): close it and open it anew. */
  isDead?(): boolean;
  /**
   * Calls the listener with the ids of memories that a transaction has changed, as triggers tell them, before the transaction's own
   * answer is given. Absent where others may write unseen: on a server. Gives a function that ends it.
   */
  onChange?(listener: ChangeListener): () => void;
  /** Absent for the embedded store, which has one connection. */
  pool?(): PoolUse;
  /** The same store for a call that only reads: a replica may answer single statements. Absent where there is none. */
  reading?(): Db;
  /** Readings of this tenant, or of all where none is set, see from now on what this process has written. */
  wrote?(): void;
  /** Absent where there are no replicas to read from. */
  replicas?(): readonly ReplicaUse[];
  close(): Promise<void>;
}
