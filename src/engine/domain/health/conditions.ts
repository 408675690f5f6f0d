/** Whether a butler is well, judged by what was measured: used by the health route, by `butler doctor` and, with the same numbers, by the alerts. */
import type { Measurements, StoreSample } from "./measurements.ts";
import { THRESHOLDS } from "./thresholds.ts";

export const CONDITIONS = [
  "store",
  "worker",
  "schedule",
  "jobs",
  "backlog",
  "learning",
  "dead_letters",
  "errors",
  "latency",
  "database",
  "replica",
  "partitions",
  "spend",
  "hooks",
] as const;

export type ConditionId = (typeof CONDITIONS)[number];
export type ConditionState = "ok" | "not_ok" | "unknown";

export interface Condition {
  readonly id: ConditionId;
  readonly state: ConditionState;
  /** ISO time since when it is so, as far as this process knows. */
  readonly since: string;
  readonly says: string;
  /** Null while it is ok. */
  readonly what_to_do: string | null;
}

interface Verdict {
  readonly state: ConditionState;
  readonly says: string;
}

const ok = (says: string): Verdict => ({ state: "ok", says });
const notOk = (says: string): Verdict => ({ state: "not_ok", says });
const unknown = (says: string): Verdict => ({ state: "unknown", says });

/** What a person does about it, when it is not ok or not known. */
export const WHAT_TO_DO: Readonly<Record<ConditionId, string>> = {
  store: "butler doctor says what is wrong; with PostgreSQL see that the server runs and BUTLER_DATABASE_URL is right.",
  worker: "Restart the daemon: butler stop, then butler up. If it comes again, read its log.",
  schedule: "butler job list shows what is late; butler job run <job> runs it now.",
  jobs: "butler job history --job <job> says why; when the cause is gone, butler job run <job>.",
  backlog: "butler job run consolidate; if it learns nothing, look at [modules.memory.extractor] in butler.toml.",
  learning: "Correct [modules.memory.extractor] or wait for the provider; then butler job run consolidate.",
  dead_letters: "The page Runs shows them with the reason; when the cause is gone, send them again there.",
  errors: "The log of the daemon says why calls fail: journalctl -u butler, or BUTLER_LOG=info butler up.",
  latency: "Look at the load of the machine and of the database; a large embedded store is quicker on PostgreSQL.",
  database: "Find what holds the connections (pg_stat_activity), or raise max_connections of the server.",
  replica: "Look at the replica and the network between; until it has caught up, do not fail over to it.",
  partitions:
    "butler job run partitions makes the parts that are missing; butler job history --job partitions says why it did not.",
  spend: "Episodes wait until tomorrow (UTC); daily_budget_usd in [modules.memory.extractor] sets the cap.",
  hooks: "butler doctor, and see that the machine is not overloaded: a hook waits two seconds for memory.",
};

/** `before`: the conditions of the last judgement, from which `since` is kept while the state is the same. */
export function judge(measured: Measurements, now: Date, before: readonly Condition[] = []): Condition[] {
  const at = now.toISOString();
  return CONDITIONS.map((id) => {
    const { state, says } = VERDICTS[id](measured, now);
    const known = before.find((one) => one.id === id);
    const since = known?.state === state ? known.since : at;
    return { id, state, since, says, what_to_do: state === "ok" ? null : WHAT_TO_DO[id] };
  });
}

type Judge = (measured: Measurements, now: Date) => Verdict;

/** A verdict on what only the store can tell. */
const sampled =
  (verdict: (sample: StoreSample, measured: Measurements, now: Date) => Verdict): Judge =>
  (measured, now) => {
    const { sample, store, unsampled, nothing } = measured;
    if (store.state === "off") return ok(STORE_WORDS.off);
    if (nothing !== undefined) return ok(nothing);
    if (sample) return verdict(sample, measured, now);
    return unknown(unsampled ?? store.reason ?? "The store has not told its numbers yet.");
  };

const VERDICTS: Readonly<Record<ConditionId, Judge>> = {
  store({ store, sample, unsampled }) {
    if (store.state === "failed" || store.state === "unknown")
      return notOk(`The store does not answer: ${store.reason ?? "no reason was given"}.`);
    if (sample === undefined && unsampled !== undefined && store.state === "closed")
      return unknown(`The store is being opened: ${unsampled}.`);
    if (sample === undefined && unsampled !== undefined) return notOk(`The store does not answer: ${unsampled}.`);
    return ok(STORE_WORDS[store.state]);
  },
  worker({ looked_seconds: seconds }) {
    if (seconds === undefined) return ok("No jobs run by themselves here.");
    if (seconds <= THRESHOLDS.workerSeconds) return ok("The schedules are looked at.");
    return notOk(`Nobody has looked at the schedules for ${duration(seconds)}: no job runs by itself.`);
  },
  schedule({ overdue, store, nothing }) {
    if (store.state === "off") return ok(STORE_WORDS.off);
    if (nothing !== undefined) return ok(nothing);
    if (overdue === undefined) return unknown("The schedule was not looked at yet.");
    const late = Object.entries(overdue).filter(([, seconds]) => seconds > THRESHOLDS.overdueSeconds);
    if (late.length === 0) return ok("Every job ran at its time.");
    return notOk(`Late: ${late.map(([job, seconds]) => `${job} by ${duration(seconds)}`).join(", ")}.`);
  },
  jobs: sampled(({ jobs }, _, now) => {
    const slow = jobs.find(
      ({ job, state, started_at: at }) =>
        job === "decay_sweep" && state === "running" && now.getTime() - at.getTime() > THRESHOLDS.sweepSeconds * 1_000,
    );
    if (slow) return notOk(`The daily sweep runs since ${slow.started_at.toISOString()}; half an hour should do.`);
    const failed = jobs.filter(({ state }) => state === "failed" || state === "dead_letter");
    if (failed.length === 0) return ok("No job has failed in its last run.");
    return notOk(`Failed in the last run: ${failed.map(({ job }) => job).join(", ")}.`);
  }),
  backlog: sampled(({ backlog, oldest_pending: oldest }, _, now) => {
    if (oldest === null) return ok("Nothing waits to be learned from.");
    const seconds = Math.max(0, (now.getTime() - oldest.getTime()) / 1_000);
    const says = `${episodes(backlog)} to be learned from, the oldest for ${duration(seconds)}.`;
    return seconds > THRESHOLDS.backlogSeconds ? notOk(says) : ok(says);
  }),
  learning: sampled(({ failing }) =>
    failing === null
      ? ok("What is read is learned from.")
      : notOk(`Nothing was learned since ${failing.since} (${failing.provider}).`),
  ),
  dead_letters: sampled(({ dead_letters: n }) => {
    if (n === 0) return ok("Every episode can be learned from.");
    return notOk(`${n} ${n === 1 ? "episode" : "episodes"} could not be learned from, and nobody tries again.`);
  }),
  errors({ calls }) {
    const watched = calls.filter(({ tool }) => tool === "memory_context" || tool === "memory_search");
    const bad = watched.filter(
      ({ calls: n, failed }) => n >= THRESHOLDS.enoughCalls && failed / n > THRESHOLDS.errorShare,
    );
    if (bad.length === 0) return ok("Calls of memory_context and memory_search are answered.");
    return notOk(`${bad.map(({ tool, calls: n, failed }) => `${failed} of ${n} calls of ${tool} failed`).join(", ")}.`);
  },
  latency({ calls }) {
    const slow = calls.filter(
      ({ tool, calls: n, p95_ms: p95 }) =>
        n >= THRESHOLDS.enoughCalls && p95 / 1_000 > (SLOWEST[tool] ?? Number.POSITIVE_INFINITY),
    );
    if (slow.length === 0) return ok("Answers come in time.");
    return notOk(
      `${slow.map(({ tool, p95_ms: p95 }) => `95 of 100 calls of ${tool} take up to ${Math.round(p95)} ms`).join(", ")}.`,
    );
  },
  database: sampled(({ server }, { pool }) => {
    const full = [
      ...(pool && (pool.waiting > 0 || pool.in_use / pool.max > THRESHOLDS.connectionShare)
        ? [`${pool.in_use} of ${pool.max} connections of the pool are in use and ${pool.waiting} calls wait for one`]
        : []),
      ...(server && server.connections / server.max_connections > THRESHOLDS.connectionShare
        ? [`${server.connections} of ${server.max_connections} connections of the server are taken`]
        : []),
    ];
    if (full.length > 0) return notOk(`${full.join("; ")}.`);
    return ok(server === null ? "The store is embedded." : "The server has connections left.");
  }),
  replica: sampled(({ server }, { replicas = [] }) => {
    const out = replicas.filter(({ used }) => !used);
    if (out.length > 0)
      return notOk(`${out.map(({ name, reason }) => `Nothing is read from ${name}: ${reason}`).join("; ")}.`);
    if (server === null || server.replicas === 0) return ok("There is no replica.");
    const { replica_lag_seconds: lag } = server;
    if (lag === null) return unknown("This user may not see how far the replica is behind (pg_monitor allows it).");
    const says = `The replica is ${duration(lag)} behind.`;
    return lag > THRESHOLDS.replicaSeconds ? notOk(says) : ok(says);
  }),
  partitions: sampled(({ server }) => {
    const days = server?.partitions_ahead_days ?? null;
    if (days === null) return ok("No table is divided.");
    const says = `Divided tables have their parts for the next ${Math.floor(days)} days.`;
    return days < THRESHOLDS.partitionDays ? notOk(says) : ok(says);
  }),
  spend: sampled(({ spent_usd: spent }, { cap_usd: cap }) => {
    const says = `${spent.toFixed(2)} of ${cap.toFixed(2)} US dollars of the day are spent.`;
    return cap > 0 && spent >= cap * THRESHOLDS.spendShare ? notOk(says) : ok(says);
  }),
  hooks({ hooks: { told, late, without } }) {
    const all = told + late + without;
    if (all < THRESHOLDS.enoughCalls || (late + without) / all <= THRESHOLDS.hookShare)
      return ok("Hooks get their answers.");
    return notOk(`${late + without} of ${all} hooks of agents went without memory.`);
  },
};

const STORE_WORDS = {
  open: "The store is open and answers.",
  closed: "The store is closed and opens with the first call.",
  off: "This butler has no memory.",
} as const;

const SLOWEST: Readonly<Record<string, number>> = {
  memory_context: THRESHOLDS.contextSeconds,
  memory_search: THRESHOLDS.searchSeconds,
};

const episodes = (n: number): string => (n === 1 ? "1 episode waits" : `${n} episodes wait`);

function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} minutes`;
  return `${Math.round(seconds / 3_600)} hours`;
}
