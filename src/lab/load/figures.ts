/** What a run under load says: times by kind and by minute, the share of answered calls, memory over time, and the verdict. */
import { least, most, type Report, round, row, type Spread, spread, type Verdict, verdictLine } from "../figures.ts";
import type { Answered, Driven } from "./drive.ts";
import type { LoadKind, LoadShape } from "./schedule.ts";

/**
 * Percentiles are of all calls that were made: one that failed or was given up counts as later than every answer. Null: the percentile
 * falls on such a call, or no call was made.
 */
export interface KindFigures {
  /** Calls that the percentiles are of, those without an answer too. */
  readonly count: number;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly max: number | null;
  readonly sent: number;
  readonly answered: number;
  /** Percent. */
  readonly answered_share: number;
  /** Answered calls whose answer says that it is less than it could be; they are among the answered ones and in the percentiles. */
  readonly degraded: number;
  readonly p95_in_bursts: number | null;
  readonly p95_between: number | null;
  readonly errors: Readonly<Record<string, number>>;
}

/** A minute, or a third of a shorter run. */
interface Slice {
  readonly from_second: number;
  /** Null: it falls on a call without an answer, or no call was due. */
  readonly context_p95: number | null;
  readonly episode_p95: number | null;
  /** Calls of either kind that were due in it and have no answer. */
  readonly unanswered: number;
  /** Of the context reads among them. */
  readonly context_unanswered: number;
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
  /** Acknowledged writes whose episode the store does not hold after the owner has ended, looked up by id. */
  readonly lost: number;
  /** Episodes that came in meanwhile beside the acknowledged ones: their writes were given up before the answer came. */
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

/**
 * What the specification asks for; a tenth of each time is what this program asks of itself. The share of answered calls is specified for
 * episode writes alone, and is asked of context reads too.
 */
const SLO = { context_p95_ms: 250, answered_percent: 99.9, backlog_hours: 6 } as const;
const OWN = { writes_percent: 99.99, p95_growth: 1.25, memory_growth: 1.1 } as const;
/** What each memory may take in an owner: what is stored while the load lasts takes it too. */
const KB_A_MEMORY = 3;

const isAnswered = ({ error }: Answered) => error === undefined;

/** Nearest rank among all calls, those without an answer behind every answer; null where it falls on one of them. */
function percentileOf(calls: readonly Answered[], share: number): number | null {
  const times = calls.flatMap((one) => (isAnswered(one) ? [one.ms] : [])).toSorted((a, b) => a - b);
  const ms = times[Math.max(0, Math.ceil(share * calls.length) - 1)];
  return ms === undefined ? null : round(ms, 2);
}

export function kindFigures(all: readonly Answered[], kind: LoadKind): KindFigures {
  const sent = all.filter((one) => one.kind === kind);
  const good = sent.filter(isAnswered);
  const at = (share: number, calls: readonly Answered[] = sent) => percentileOf(calls, share);
  const errors: Record<string, number> = {};
  for (const { error } of sent) if (error !== undefined) errors[error] = (errors[error] ?? 0) + 1;
  return {
    ...{ count: sent.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) },
    sent: sent.length,
    answered: good.length,
    answered_share: sent.length === 0 ? 100 : round((100 * good.length) / sent.length, 3),
    degraded: good.filter(({ degraded }) => degraded === true).length,
    p95_in_bursts: at(
      0.95,
      sent.filter(({ burst }) => burst),
    ),
    p95_between: at(
      0.95,
      sent.filter(({ burst }) => !burst),
    ),
    errors,
  };
}

/**
 * `held`: how many of the acknowledged episodes the store holds, each id counted once; `came`: how many more episodes it has than before.
 * Totals alone would hide a lost write behind one that was given up and stored.
 */
export const writesOf = (
  acknowledged: number,
  held: number,
  came: number,
): Pick<LoadReport, "lost" | "stored_unacknowledged"> => ({
  lost: acknowledged - held,
  stored_unacknowledged: Math.max(0, came - held),
});

const isContext = ({ kind }: Answered) => kind === "context";
const unansweredOf = (calls: readonly Answered[]) => calls.length - calls.filter(isAnswered).length;

export function slicesOf(seconds: number, { answers }: Driven, samples: readonly Sample[]): Slice[] {
  const length = seconds >= 180 ? 60 : seconds / 3;
  return Array.from({ length: Math.ceil(seconds / length - 1e-9) }, (_, index) => {
    const from = index * length;
    const within = ({ at }: { readonly at: number }) => at >= from * 1_000 && at < (from + length) * 1_000;
    const due = answers.filter(within);
    const [contexts, episodes] = [due.filter(isContext), due.filter((one) => !isContext(one))];
    const held = samples.filter(within).flatMap(({ mb }) => (mb === null ? [] : [mb]));
    return {
      from_second: round(from),
      context_p95: percentileOf(contexts, 0.95),
      episode_p95: percentileOf(episodes, 0.95),
      unanswered: unansweredOf(due),
      context_unanswered: unansweredOf(contexts),
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

/** A figure that there is none of, because calls were not answered, is no unknown one: its target is missed. */
const missedIf = (unanswered: boolean, verdict: Verdict): Verdict =>
  unanswered ? { ...verdict, figure: null, met: false } : verdict;

export function verdictsOf(report: Omit<LoadReport, "targets">): Verdict[] {
  const { kinds, slices, after, lost, resident_growth: growth } = report;
  const { context, episode } = kinds;
  const ends = [slices[0], slices.at(-1)];
  const times = (of: (slice: Slice) => number | null | undefined) => {
    const [first, last] = ends.map((slice) => (slice === undefined ? null : of(slice)));
    return first == null || last == null || first === 0 ? null : round(last / first, 2);
  };
  const p95 = (name: string, target: number) =>
    missedIf(context.p95 === null && context.sent > 0, most(name, "ms", context.p95, target));
  const isLost = (slice: Slice | undefined) => slice?.context_p95 === null && slice.context_unanswered > 0;
  return [
    p95("memory_context p95, specified", SLO.context_p95_ms),
    p95("memory_context p95, a tenth of it", SLO.context_p95_ms / 10),
    least("context reads answered, as for writes", "%", context.answered_share, SLO.answered_percent),
    most("degraded answers to context reads", "", context.degraded, 0),
    least("writes acknowledged, specified", "%", episode.answered_share, SLO.answered_percent),
    least("writes acknowledged, our own", "%", episode.answered_share, OWN.writes_percent),
    most("acknowledged but not stored", "", lost, 0),
    most("age of the backlog in hours", "", round(after.backlog_age_hours, 2), SLO.backlog_hours),
    most("backlog in hours, a tenth", "", round(after.backlog_age_hours, 2), SLO.backlog_hours / 10),
    missedIf(
      ends.some(isLost),
      most(
        "p95 of reads, last minute to first",
        "×",
        times((slice) => slice.context_p95),
        OWN.p95_growth,
      ),
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

const LATEST =
  'A call that failed or was given up counts as later than every answer: "none" where a percentile falls on one.';

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
    row(["ms since a call was due", "p50", "p95", "p99", "max", "burst p95", "else p95", "answered", "degraded"]),
    row(["context, one at a time before", alone.p50, alone.p95, "", alone.max]),
    ...(Object.keys(name) as LoadKind[]).map((kind) => {
      const k = kinds[kind];
      const times = [k.p50, k.p95, k.p99, k.max, k.p95_in_bursts, k.p95_between].map((ms) => ms ?? "none");
      return row([name[kind], ...times, `${k.answered_share} %`, kind === "context" ? k.degraded : ""]);
    }),
    ...(errors.length === 0 ? ["no errors"] : [...errors, LATEST]),
    "",
    row(["from second", ...slices.map((slice) => slice.from_second)]),
    row(["context p95, ms", ...slices.map((slice) => slice.context_p95 ?? "none")]),
    row(["episode p95, ms", ...slices.map((slice) => slice.episode_p95 ?? "none")]),
    row(["calls without an answer", ...slices.map((slice) => slice.unanswered)]),
    row(["resident memory, MB", ...slices.map((slice) => slice.resident_mb ?? "?")]),
    "",
    `at most ${report.most_open} calls under way at once; the last was answered ${report.drained_ms} ms after it was due; this process made calls ${report.late_p95} ms late (p95)`,
    `the owner's CPU: ${cpu.seconds ?? "?"} s, ${cpu.ms_per_call ?? "?"} ms a call, ${cpu.cores ?? "?"} cores; ${growth === null ? "growth of memory unknown" : `memory grew by ${growth.mb} MB, ${growth.kb_per_write} KB a write`}`,
    `episodes ${before.episodes} → ${after.episodes}, ${report.lost} acknowledged but not stored, ${report.stored_unacknowledged} stored after they were given up; to be learned from ${before.backlog} → ${after.backlog}, the oldest for ${round(after.backlog_age_hours, 2)} h`,
    "",
    ...report.targets.map(verdictLine),
  ];
}
