/** A durable queue in the butler's own database: one line a job, and never two runs of one job at once. */
import type { Db, Sql } from "../db/port.ts";

export interface Message {
  readonly job: string;
  /** The same id is taken once: two processes that ask for the same run cause one. */
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** False for what a person waits for: it is told of the failure and repeats it by hand. */
  readonly retry: boolean;
  /** Goes before what waits already. */
  readonly urgent?: boolean;
}

/** A run that was taken from the line and belongs to this process until it is completed, failed or lost. */
export interface Lease {
  readonly job: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** How often it was tried before. */
  readonly retries: number;
  /** After a failure of this one it is tried no more. */
  readonly last: boolean;
}

export interface Hold {
  /** True when this process was too slow to say that it lives, and the run may be somebody else's by now. */
  lost(): boolean;
  release(): void;
}

export interface Queue {
  /** False when this id was sent before. */
  send(message: Message, sql?: Sql): Promise<boolean>;
  /** The next run of a job; undefined when nothing waits, or when one is under way anywhere. */
  take(job: string): Promise<Lease | undefined>;
  /** Says regularly that the run is alive, until it is released. */
  hold(lease: Lease): Hold;
  complete(lease: Lease, sql?: Sql): Promise<void>;
  /** Tried again after a while, longer each time; after the last time it goes to the dead letters. */
  fail(lease: Lease, reason: string, sql?: Sql): Promise<void>;
  cancel(job: string, id: string): Promise<void>;
  /** Takes leases back whose holders died: those that ran out, or `all` when no other process can hold one. */
  expire(all: boolean): Promise<void>;
  /** Jobs with a run that may start now. */
  ready(): Promise<string[]>;
  /** How long until something waits that does not now: a retry, or a lease that runs out. */
  waitMs(): Promise<number | undefined>;
  /** Forgets what ended long ago. */
  tidy(): Promise<void>;
}

export interface QueueMaker {
  /** False until the first run of the first job: a store that never had one is not burdened with the tables. */
  installed(sql: Sql): Promise<boolean>;
  open(db: Db, jobs: readonly string[]): Promise<Queue>;
}
