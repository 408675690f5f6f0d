/** What a run under load says: times by kind and by minute, the share of answered calls, memory over time, and the verdict. */
import {
  least,
  most,
  percentile,
  type Report,
  round,
  row,
  type Spread,
  spread,
  type Verdict,
  verdictLine,
} from "../figures.ts";
import type { Answered, Driven } from "./drive.ts";
import type { LoadKind, LoadShape } from "./schedule.ts";

export interface KindFigures extends Spread {
  readonly p99: number;
  readonly sent: number;
  readonly answered: number;
  /** Percent. */
  readonly answered_share: number;
  readonly p95_in_bursts: number;
  readonly p95_between: number;
  readonly errors: Readonly<Record<string, number>>;
}

/** A minute, or a third of a shorter run. */
interface Slice {
  readonly from_second: number;
  /** Null: no call that was due in it was answered. */
  readonly context_p95: number | null;
  readonly episode_p95: number | null;
  /** Median of what the owner held while it lasted. */
  readonly resident_mb: number | null;
}

export interface Sample {
  readonly at: number;
  readonly mb: number | null;
}

export interface Waiting {
  readonly episodes: number;
  readonly backlog: number;
  readonly backlog_age_hours: number;
}

export interface LoadReport extends LoadShape {
  readonly n: number;
  readonly store: Report["store"];
  readonly machine: Report["machine"];
  /** One context read at a time, before the load. */
  readonly alone: Spread;
  readonly kinds: Readonly<Record<LoadKind, KindFigures>>;
  readonly slices: readonly Slice[];
  readonly most_open: number;
  readonly drained_ms: number;
  /** p95 of how late this process made its calls. */
  readonly late_p95: number;
  readonly resident_growth: {
    readonly mb: number;
    readonly kb_per_write: number;
    /** Last to first without what the memories that were stored meanwhile may take. */
    readonly beside_memories: number;
  } | null;
  /** The owner's, until the last answer. It says more than times do where other programs use the machine. */
  readonly cpu: {
    readonly seconds: number | null;
    readonly ms_per_call: number | null;
    readonly cores: number | null;
  };
  readonly before: Waiting;
  readonly after: Waiting;
  /** Acknowledged writes that the store does not hold. */
  readonly lost: number;
  /** Writes that were given up before their answer came, and were carried out nevertheless. */
  readonly stored_unacknowledged: number;
  readonly targets: readonly Verdict[];
}

/** CPU milliseconds before and after, as figures of a run. */
export function cpuOf(
  before: number | null,
  after: number | null,
  shape: LoadShape,
  { answers, drained_ms }: Driven,
): LoadReport["cpu"] {
  if (before === null || after === null) return { seconds: null, ms_per_call: null, cores: null };
  const ms = after - before;
  return {
    seconds: round(ms / 1_000),
    ms_per_call: round(ms / Math.max(1, answers.length)),
    cores: round(ms / (shape.seconds * 1_000 + drained_ms), 2),
  };
}

/** What the specification asks for; a tenth of each time is what this program asks of itself. */
const SLO = { context_p95_ms: 250, writes_percent: 99.9, backlog_hours: 6 } as const;
const OWN = { writes_percent: 99.99, p95_growth: 1.25, memory_growth: 1.1 } as const;
/** What each memory may take in an owner: what is stored while the load lasts takes it too. */
const KB_A_MEMORY = 3;

export const p99 = (times: readonly number[]) =>
  percentile(
    times.toSorted((a, b) => a - b),
    0.99,
  );

export function kindFigures(all: readonly Answered[], kind: LoadKind): KindFigures {
  const sent = all.filter((one) => one.kind === kind);
  const good = sent.filter(({ error }) => error === undefined);
  const times = (some: readonly Answered[]) => some.map(({ ms }) => ms);
  const errors: Record<string, number> = {};
  for (const { error } of sent) if (error !== undefined) errors[error] = (errors[error] ?? 0) + 1;
  return {
    ...spread(times(good)),
    p99: p99(times(good)),
    sent: sent.length,
    answered: good.length,
    answered_share: sent.length === 0 ? 100 : round((100 * good.length) / sent.length, 3),
    p95_in_bursts: spread(times(good.filter(({ burst }) => burst))).p95,
    p95_between: spread(times(good.filter(({ burst }) => !burst))).p95,
    errors,
  };
}

export function slicesOf(seconds: number, { answers }: Driven, samples: readonly Sample[]): Slice[] {
  const length = seconds >= 180 ? 60 : seconds / 3;
  return Array.from({ length: Math.ceil(seconds / length - 1e-9) }, (_, index) => {
    const from = index * length;
    const within = ({ at }: { readonly at: number }) => at >= from * 1_000 && at < (from + length) * 1_000;
    const p95 = (kind: LoadKind) => {
      const good = answers.filter((one) => within(one) && one.kind === kind && one.error === undefined);
      return good.length === 0 ? null : spread(good.map(({ ms }) => ms)).p95;
    };
    const held = samples.filter(within).flatMap(({ mb }) => (mb === null ? [] : [mb]));
    return {
      from_second: round(from),
      context_p95: p95("context"),
      episode_p95: p95("episode"),
      resident_mb: held.length === 0 ? null : spread(held).p50,
    };
  });
}

/** From the first minute to the last. */
export function growthOf(slices: readonly Slice[], writes: number): LoadReport["resident_growth"] {
  const [first, last] = [slices[0]?.resident_mb ?? null, slices.at(-1)?.resident_mb ?? null];
  if (first === null || last === null || first === 0 || slices.length < 2) return null;
  const between = (writes * (slices.length - 1)) / slices.length;
  const allowed = (KB_A_MEMORY * between) / 1_000;
  return {
    mb: round(last - first),
    kb_per_write: round(((last - first) * 1_000) / Math.max(1, between), 2),
    beside_memories: round((last - allowed) / first, 3),
  };
}

export function verdictsOf(report: Omit<LoadReport, "targets">): Verdict[] {
  const { kinds, slices, after, lost, resident_growth: growth } = report;
  const times = (of: (slice: Slice) => number | null | undefined) => {
    const [first, last] = [slices[0], slices.at(-1)].map((slice) => (slice === undefined ? null : of(slice)));
    return first == null || last == null || first === 0 ? null : round(last / first, 2);
  };
  return [
    most("memory_context p95, specified", "ms", kinds.context.p95, SLO.context_p95_ms),
    most("memory_context p95, a tenth of it", "ms", kinds.context.p95, SLO.context_p95_ms / 10),
    least("writes acknowledged, specified", "%", kinds.episode.answered_share, SLO.writes_percent),
    least("writes acknowledged, our own", "%", kinds.episode.answered_share, OWN.writes_percent),
    most("acknowledged but not stored", "", lost, 0),
    most("age of the backlog in hours", "", round(after.backlog_age_hours, 2), SLO.backlog_hours),
    most("backlog in hours, a tenth", "", round(after.backlog_age_hours, 2), SLO.backlog_hours / 10),
    most(
      "p95 of reads, last minute to first",
      "×",
      times((slice) => slice.context_p95),
      OWN.p95_growth,
    ),
    most(
      "resident memory, last to first",
      "×",
      times((slice) => slice.resident_mb),
      OWN.memory_growth,
    ),
    most(`the same without ${KB_A_MEMORY} KB a new memory`, "×", growth?.beside_memories ?? null, OWN.memory_growth),
  ];
}

export function loadLines(report: LoadReport): string[] {
  const { kinds, machine, slices, before, after, alone, cpu, resident_growth: growth } = report;
  const name = { context: "context reads", episode: "episode writes" } as const;
  const errors = (Object.keys(name) as LoadKind[]).flatMap((kind) =>
    Object.entries(kinds[kind].errors).map(([code, count]) => `${count} ${name[kind]} failed: ${code}`),
  );
  return [
    `${report.reads} context reads and ${report.writes} episode writes a second for ${report.seconds} s, ${report.burst} times as many in bursts; ${report.n.toLocaleString("en")} memories before, ${report.store}`,
    `${machine.cores} × ${machine.cpu}, Node ${machine.node}, load ${machine.load} at the start`,
    "",
    row(["ms since a call was due", "p50", "p95", "p99", "max", "burst p95", "else p95", "answered"]),
    row(["context, one at a time before", alone.p50, alone.p95, "", alone.max]),
    ...(Object.keys(name) as LoadKind[]).map((kind) => {
      const k = kinds[kind];
      const share = `${k.answered_share} %`;
      return row([name[kind], k.p50, k.p95, k.p99, k.max, k.p95_in_bursts, k.p95_between, share]);
    }),
    ...(errors.length === 0 ? ["no errors"] : errors),
    "",
    row(["from second", ...slices.map((slice) => slice.from_second)]),
    row(["context p95, ms", ...slices.map((slice) => slice.context_p95 ?? "none")]),
    row(["episode p95, ms", ...slices.map((slice) => slice.episode_p95 ?? "none")]),
    row(["resident memory, MB", ...slices.map((slice) => slice.resident_mb ?? "?")]),
    "",
    `at most ${report.most_open} calls under way at once; the last was answered ${report.drained_ms} ms after it was due; this process made calls ${report.late_p95} ms late (p95)`,
    `the owner's CPU: ${cpu.seconds ?? "?"} s, ${cpu.ms_per_call ?? "?"} ms a call, ${cpu.cores ?? "?"} cores; ${growth === null ? "growth of memory unknown" : `memory grew by ${growth.mb} MB, ${growth.kb_per_write} KB a write`}`,
    `episodes ${before.episodes} → ${after.episodes}, ${report.lost} acknowledged but not stored, ${report.stored_unacknowledged} stored after they were given up; to be learned from ${before.backlog} → ${after.backlog}, the oldest for ${round(after.backlog_age_hours, 2)} h`,
    "",
    ...report.targets.map(verdictLine),
  ];
}
