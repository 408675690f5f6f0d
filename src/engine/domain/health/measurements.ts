/** What is measured of one butler. Whatever is not known is undefined: it is never a zero. */

/** Numbers of a store that are read often, by indexes. */
export interface StoreSample {
  readonly at: Date;
  readonly backlog: number;
  readonly oldest_pending: Date | null;
  readonly dead_letters: number;
  readonly jobs_waiting: number;
  /** The latest run of each job. */
  readonly jobs: readonly JobSample[];
  readonly spent_usd: number;
  /** Set while episodes wait and no run since the last that learned has ended well. */
  readonly failing: { readonly since: string; readonly provider: string } | null;
  /** Of a server; null where there is none. */
  readonly server: ServerSample | null;
}

export interface JobSample {
  readonly job: string;
  readonly state: "running" | "done" | "failed" | "dead_letter";
  readonly started_at: Date;
  readonly finished_at: Date | null;
}

export interface ServerSample {
  readonly connections: number;
  readonly max_connections: number;
  readonly replicas: number;
  /** Of the replica that is farthest behind; null when there is none, or when its lag may not be seen. */
  readonly replica_lag_seconds: number | null;
  /** For how many days from now on divided tables have their parts ready, the one that has least; null where none is divided. */
  readonly partitions_ahead_days: number | null;
}

/** Numbers that take a scan, read seldom. */
export interface StoreSizes {
  readonly at: Date;
  readonly database_bytes: number;
  readonly index_bytes: number;
  /** Rows that were replaced or deleted and still take space in tables and indexes. */
  readonly dead_rows: number;
  /** As the store estimates them. */
  readonly rows: Readonly<Record<string, number>>;
  /** Facts by their state, counted. */
  readonly facts: Readonly<Record<string, number>>;
  /** How many events of each type the stream has. */
  readonly events: Readonly<Record<string, number>>;
}

export interface PoolUse {
  readonly max: number;
  readonly in_use: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
}

/** A replica that is read from. */
export interface ReplicaUse {
  /** Host and port. */
  readonly name: string;
  readonly used: boolean;
  /** Why it is left out. */
  readonly reason?: string;
  /** Null when it is not known. */
  readonly lag_seconds: number | null;
  /** Statements that it has answered. */
  readonly statements: number;
}

export interface ToolLatency {
  readonly tool: string;
  readonly calls: number;
  /** Calls that failed for a reason of ours; what a caller did wrong is not counted. */
  readonly failed: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
}

export interface HookCounts {
  /** Got what it asked for in time. */
  readonly told: number;
  /** The answer came too late. */
  readonly late: number;
  /** Memory refused or failed. */
  readonly without: number;
}

export interface Measurements {
  readonly store: { readonly state: "open" | "closed" | "off" | "failed" | "unknown"; readonly reason?: string };
  /** Why there is nothing to judge in a store here: there is none yet, or it is kept elsewhere. */
  readonly nothing?: string | undefined;
  readonly sample: StoreSample | undefined;
  /** Why the store told nothing. */
  readonly unsampled?: string | undefined;
  readonly pool?: PoolUse | undefined;
  /** Replicas that are read from; undefined where none is named, or the store is closed. */
  readonly replicas?: readonly ReplicaUse[] | undefined;
  /** Seconds since the scheduler looked; undefined where none runs. */
  readonly looked_seconds?: number | undefined;
  /** By how many seconds the run of a job is late, by job; undefined where nobody knows. */
  readonly overdue?: Readonly<Record<string, number>> | undefined;
  readonly calls: readonly ToolLatency[];
  readonly hooks: HookCounts;
  readonly cap_usd: number;
}
