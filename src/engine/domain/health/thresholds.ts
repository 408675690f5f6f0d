/** From where on something is not well. `ops/alerts.yml` has the same numbers; a test compares them. */
export const THRESHOLDS = {
  /** Six hours: 95 of 100 episodes are to be learned from by then. */
  backlogSeconds: 6 * 3_600,
  /** The share of calls of `memory_context` and `memory_search` that failed for a reason of ours. */
  errorShare: 0.05,
  /** The longest time that 95 of 100 calls may take. */
  contextSeconds: 0.25,
  searchSeconds: 0.35,
  /** A share of fewer calls than this says nothing. */
  enoughCalls: 20,
  /** The scheduler looks at the schedules every ten seconds. */
  workerSeconds: 20,
  /** A run that is late by more than this was skipped: by then a busy machine has caught up. */
  overdueSeconds: 900,
  /** The daily sweep ends within half an hour. */
  sweepSeconds: 1_800,
  /** The share of the connections in use, of the pool and of the server. */
  connectionShare: 0.9,
  /** How far a replica may be behind. */
  replicaSeconds: 30,
  /** The job makes three months ahead every day: with less than this it has not run for long. */
  partitionDays: 14,
  /** The share of the day's budget: the next call of a model may not fit into the rest. */
  spendShare: 0.95,
  /** The share of hooks that went without memory. */
  hookShare: 0.2,
} as const;

/** Calls and hooks of the last quarter of an hour are judged. */
export const RECENT_MS = 15 * 60_000;
