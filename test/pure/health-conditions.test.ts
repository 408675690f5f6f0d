/** What follows from what was measured: the borders of each condition, and what is not known. */
import { describe, expect, test } from "vitest";
import { CONDITIONS, type ConditionId, judge, WHAT_TO_DO } from "../../src/engine/domain/health/conditions.ts";
import type { Measurements, StoreSample } from "../../src/engine/domain/health/measurements.ts";
import { THRESHOLDS } from "../../src/engine/domain/health/thresholds.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000);

const SAMPLE: StoreSample = {
  at: NOW,
  backlog: 0,
  oldest_pending: null,
  dead_letters: 0,
  jobs_waiting: 0,
  jobs: [{ job: "decay_sweep", state: "done", started_at: ago(90), finished_at: ago(60) }],
  spent_usd: 0,
  failing: null,
  server: { connections: 5, max_connections: 100, replicas: 1, replica_lag_seconds: 0, partitions_ahead_days: null },
};

const WELL: Measurements = {
  store: { state: "open" },
  sample: SAMPLE,
  pool: { max: 10, in_use: 1, waiting: 0 },
  looked_seconds: 3,
  overdue: { decay_sweep: 0 },
  calls: [],
  hooks: { told: 100, late: 0, without: 0 },
  cap_usd: 1,
};

const sampled = (more: Partial<StoreSample>): Measurements => ({ ...WELL, sample: { ...SAMPLE, ...more } });
const calls = (tool: string, n: number, failed: number, p95_ms = 1): Measurements => ({
  ...WELL,
  calls: [{ tool, calls: n, failed, p50_ms: 1, p95_ms }],
});
const stateOf = (measured: Measurements, id: ConditionId) => judge(measured, NOW).find((one) => one.id === id)?.state;

test("a butler that is well has no condition to look at", () => {
  const conditions = judge(WELL, NOW);
  expect(conditions.map(({ id }) => id)).toEqual([...CONDITIONS]);
  expect(conditions.filter(({ state }) => state !== "ok")).toEqual([]);
  expect(conditions.every(({ what_to_do }) => what_to_do === null)).toBe(true);
});

const T = THRESHOLDS;
const server = {
  connections: 90,
  max_connections: 100,
  replicas: 1,
  replica_lag_seconds: T.replicaSeconds,
  partitions_ahead_days: T.partitionDays,
};

describe.each<[ConditionId, Measurements, Measurements]>([
  ["store", { ...WELL, store: { state: "closed" } }, { ...WELL, store: { state: "failed", reason: "disk" } }],
  ["store", WELL, { ...WELL, sample: undefined, unsampled: "no answer" }],
  ["worker", { ...WELL, looked_seconds: T.workerSeconds }, { ...WELL, looked_seconds: T.workerSeconds + 1 }],
  ["worker", { ...WELL, looked_seconds: undefined }, { ...WELL, looked_seconds: 3_600 }],
  ["schedule", { ...WELL, overdue: { a: T.overdueSeconds } }, { ...WELL, overdue: { a: T.overdueSeconds + 1 } }],
  [
    "jobs",
    sampled({ jobs: [{ job: "decay_sweep", state: "running", started_at: ago(T.sweepSeconds), finished_at: null }] }),
    sampled({
      jobs: [{ job: "decay_sweep", state: "running", started_at: ago(T.sweepSeconds + 1), finished_at: null }],
    }),
  ],
  [
    "jobs",
    sampled({ jobs: [] }),
    sampled({ jobs: [{ job: "promote", state: "dead_letter", started_at: ago(9), finished_at: ago(8) }] }),
  ],
  [
    "backlog",
    sampled({ backlog: 1, oldest_pending: ago(T.backlogSeconds) }),
    sampled({ backlog: 1, oldest_pending: ago(T.backlogSeconds + 1) }),
  ],
  ["learning", WELL, sampled({ failing: { since: ago(5).toISOString(), provider: "anthropic" } })],
  ["dead_letters", sampled({ dead_letters: 0 }), sampled({ dead_letters: 1 })],
  ["errors", calls("memory_search", 100, 5), calls("memory_search", 100, 6)],
  ["errors", calls("memory_context", T.enoughCalls - 1, 19), calls("memory_context", T.enoughCalls, 2)],
  ["errors", calls("memory_store_fact", 100, 100), calls("memory_context", 100, 100)],
  ["latency", calls("memory_context", 100, 0, 250), calls("memory_context", 100, 0, 251)],
  ["latency", calls("memory_search", 100, 0, 350), calls("memory_search", 100, 0, 351)],
  [
    "database",
    { ...WELL, pool: { max: 10, in_use: 9, waiting: 0 } },
    { ...WELL, pool: { max: 10, in_use: 10, waiting: 0 } },
  ],
  ["database", WELL, { ...WELL, pool: { max: 10, in_use: 3, waiting: 1 } }],
  ["database", sampled({ server }), sampled({ server: { ...server, connections: 91 } })],
  ["replica", sampled({ server }), sampled({ server: { ...server, replica_lag_seconds: T.replicaSeconds + 1 } })],
  ["partitions", sampled({ server }), sampled({ server: { ...server, partitions_ahead_days: T.partitionDays - 1 } })],
  ["replica", sampled({ server: null }), sampled({ server: { ...server, replica_lag_seconds: 3_600 } })],
  ["spend", sampled({ spent_usd: 0.94 }), sampled({ spent_usd: 0.95 })],
  ["spend", { ...sampled({ spent_usd: 0 }), cap_usd: 0 }, sampled({ spent_usd: 2 })],
  [
    "hooks",
    { ...WELL, hooks: { told: 80, late: 10, without: 10 } },
    { ...WELL, hooks: { told: 79, late: 11, without: 10 } },
  ],
])("%s", (id, well, unwell) => {
  test("is ok up to its border, and not beyond it", () => {
    expect(stateOf(well, id)).toBe("ok");
    const told = judge(unwell, NOW).find((one) => one.id === id);
    expect(told).toMatchObject({ state: "not_ok", what_to_do: WHAT_TO_DO[id] });
    expect(told?.says).toMatch(/\.$/);
  });
});

test("of a store that does not answer nothing is told but that, with the reason", () => {
  const dead = { ...WELL, store: { state: "unknown", reason: "connection refused" }, sample: undefined } as const;
  const conditions = judge(dead, NOW);
  const states = Object.fromEntries(conditions.map(({ id, state }) => [id, state]));
  expect(states).toMatchObject({ store: "not_ok", worker: "ok", schedule: "ok" });
  for (const id of ["jobs", "backlog", "learning", "dead_letters", "database", "replica", "partitions", "spend"])
    expect(conditions.find((one) => one.id === id)).toMatchObject({ state: "unknown", says: "connection refused" });
});

test("a store that is still being opened is not known, and no trouble", () => {
  const opening = {
    ...WELL,
    store: { state: "closed" },
    sample: undefined,
    unsampled: "no answer within 2.5 s",
  } as const;
  const told = judge(opening, NOW).find(({ id }) => id === "store");
  expect(told).toMatchObject({ state: "unknown", says: "The store is being opened: no answer within 2.5 s." });
  expect(stateOf({ ...opening, store: { state: "open" } }, "store")).toBe("not_ok");
});

test("a lag that may not be seen is not known, and no zero", () => {
  expect(stateOf(sampled({ server: { ...server, replica_lag_seconds: null } }), "replica")).toBe("unknown");
});

test("since is when the state began, not when somebody asked", () => {
  const first = judge(WELL, ago(600));
  const second = judge(WELL, ago(300), first);
  const third = judge(sampled({ dead_letters: 2 }), NOW, second);
  expect(second.map(({ since }) => since)).toEqual(first.map(({ since }) => since));
  expect(third.find(({ id }) => id === "dead_letters")?.since).toBe(NOW.toISOString());
  expect(third.find(({ id }) => id === "backlog")?.since).toBe(ago(600).toISOString());
});
