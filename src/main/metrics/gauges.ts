/** Numbers that are read when somebody asks for them. What is not known of a butler is absent: it is never a zero or an old value. */
import type { Standing } from "../../doors/backend.ts";
import type { Measurements, ReplicaUse, StoreSample, StoreSizes } from "../../engine/domain/health/measurements.ts";

export interface Point {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Gauge {
  readonly help: string;
  readonly labels: readonly string[];
  /** A number that only grows. */
  readonly counter?: true;
  points(standing: Standing, now: Date): readonly Point[];
}

type Value = number | null | undefined;

const one = (labels: Point["labels"], value: Value): readonly Point[] =>
  value === null || value === undefined ? [] : [{ labels, value }];

const measured = (help: string, value: (measured: Measurements, now: Date) => Value): Gauge => ({
  help,
  labels: ["butler"],
  points: ({ name, measured: m }, now) => one({ butler: name }, value(m, now)),
});

const sampled = (help: string, value: (sample: StoreSample, now: Date) => Value): Gauge =>
  measured(help, ({ sample }, now) => sample && value(sample, now));

const sized = (help: string, value: (sizes: StoreSizes) => Value): Gauge => ({
  help,
  labels: ["butler"],
  points: ({ name, sizes }) => one({ butler: name }, sizes && value(sizes)),
});

const each = (
  help: string,
  label: string,
  values: (standing: Standing) => Readonly<Record<string, number>> | undefined,
): Gauge => ({
  help,
  labels: ["butler", label],
  points: (standing) =>
    Object.entries(values(standing) ?? {}).map(([key, value]) => ({
      labels: { butler: standing.name, [label]: key },
      value,
    })),
});

const ofJobs = (sample: StoreSample | undefined, value: (job: StoreSample["jobs"][number]) => Value) =>
  sample &&
  Object.fromEntries(sample.jobs.flatMap((job) => one({}, value(job)).map((point) => [job.job, point.value])));

const ofReplicas = ({ measured: { replicas } }: Standing, value: (replica: ReplicaUse) => Value) =>
  replicas &&
  Object.fromEntries(replicas.flatMap((one_) => one({}, value(one_)).map((point) => [one_.name, point.value])));

const seconds = (at: Date): number => at.getTime() / 1_000;

/** A butler without memory, or with one that is kept elsewhere, has no store here. */
const hasStore = ({ state }: Measurements["store"]): boolean => state !== "off";

const isUp = ({ store, sample, unsampled }: Measurements): boolean =>
  store.state !== "failed" && store.state !== "unknown" && (sample !== undefined || unsampled === undefined);

export const GAUGES: Readonly<Record<string, Gauge>> = {
  butler_store_up: measured("1 when the store answers or opens with the next call, 0 when it does not.", (m) =>
    hasStore(m.store) ? Number(isUp(m)) : undefined,
  ),
  butler_condition: {
    help: "The conditions of butler health: 1 for the state that holds.",
    labels: ["butler", "id", "state"],
    points: ({ name, conditions }) =>
      conditions.map(({ id, state }) => ({ labels: { butler: name, id, state }, value: 1 })),
  },
  butler_backlog_episodes: sampled("Episodes that wait to be learned from.", ({ backlog }) => backlog),
  butler_backlog_oldest_age_seconds: sampled("How long the oldest of them waits; 0 when none does.", (s, now) =>
    s.oldest_pending === null ? 0 : Math.max(0, seconds(now) - seconds(s.oldest_pending)),
  ),
  butler_dead_letters: sampled("Episodes that nobody tries to learn from any more.", (s) => s.dead_letters),
  butler_consolidation_failing: sampled("1 while episodes wait and the runs since the last that learned failed.", (s) =>
    Number(s.failing !== null),
  ),
  butler_jobs_waiting: sampled("Runs of jobs that wait for their turn.", (s) => s.jobs_waiting),
  butler_job_last_start_timestamp_seconds: each(
    "When the latest run of a job began.",
    "job_name",
    ({ measured: { sample } }) => ofJobs(sample, ({ started_at }) => seconds(started_at)),
  ),
  butler_job_last_end_timestamp_seconds: each(
    "When the latest run of a job ended.",
    "job_name",
    ({ measured: { sample } }) => ofJobs(sample, ({ finished_at }) => finished_at && seconds(finished_at)),
  ),
  butler_job_last_failed: each("1 when the latest run of a job failed.", "job_name", ({ measured: { sample } }) =>
    ofJobs(sample, ({ state }) => Number(state === "failed" || state === "dead_letter")),
  ),
  butler_job_running: each("1 while a job runs.", "job_name", ({ measured: { sample } }) =>
    ofJobs(sample, ({ state }) => Number(state === "running")),
  ),
  butler_job_overdue_seconds: each("By how much the run of a job is late.", "job_name", ({ measured: m }) => m.overdue),
  butler_spend_today_usd: sampled("What models have cost since midnight UTC.", (s) => s.spent_usd),
  butler_spend_cap_usd: measured("The most that they may cost in a day.", (m) =>
    hasStore(m.store) ? m.cap_usd : undefined,
  ),
  butler_pool_connections: each(
    "Connections of the pool by use.",
    "use",
    ({ measured: { pool } }) => pool && { in_use: pool.in_use, free: pool.max - pool.in_use },
  ),
  butler_pool_waiting: measured("Calls that wait for a connection.", ({ pool }) => pool?.waiting),
  butler_server_connections: sampled("Connections to the database server, of everybody.", (s) => s.server?.connections),
  butler_server_connections_max: sampled("The most that the server allows.", (s) => s.server?.max_connections),
  butler_replicas: sampled("Replicas that read from the database server.", (s) => s.server?.replicas),
  butler_replica_lag_seconds: sampled("How far the slowest replica is behind.", (s) => s.server?.replica_lag_seconds),
  butler_partitions_ahead_days: sampled(
    "For how many days divided tables have their parts ready.",
    (s) => s.server?.partitions_ahead_days,
  ),
  butler_read_replica_used: each("1 while a replica is read from, 0 while it is left out.", "replica", (s) =>
    ofReplicas(s, ({ used }) => Number(used)),
  ),
  butler_read_replica_lag_seconds: each("How far a replica that is read from is behind.", "replica", (s) =>
    ofReplicas(s, ({ lag_seconds: lag }) => lag),
  ),
  butler_read_replica_statements_total: {
    ...each("Statements that a replica has answered.", "replica", (s) => ofReplicas(s, ({ statements }) => statements)),
    counter: true,
  },
  butler_database_bytes: sized("Size of the database.", (s) => s.database_bytes),
  butler_index_bytes: sized("Size of its indexes.", (s) => s.index_bytes),
  butler_dead_rows: sized("Rows that were replaced or deleted and still take space: bloat.", (s) => s.dead_rows),
  butler_rows: each("Rows by table, above 100,000 an estimate.", "table", ({ sizes }) => sizes?.rows),
  butler_facts: each("Facts by state.", "state", ({ sizes }) => sizes && { ...NO_FACTS, ...sizes.facts }),
  butler_events_total: {
    ...each(
      "Events of the audit stream by type, such as fact.superseded and rule.inverted.",
      "type",
      ({ sizes }) => sizes && { ...NO_EVENTS, ...sizes.events },
    ),
    counter: true,
  },
};

/** A state that no fact is in, and a type without an event, are zeros once the store has told its numbers. */
const NO_FACTS = { active: 0, fading: 0, expired: 0, superseded: 0, retracted: 0 };
const NO_EVENTS = { "fact.superseded": 0, "rule.inverted": 0, "fact.faded": 0, "fact.expired": 0 };
