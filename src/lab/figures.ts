/** The figures of a benchmark: how they are summarised, their targets, and how they are shown. */
export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

export function spread(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => percentile(sorted, share);
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
}

/** Nearest rank: every figure is a time that some call really took. Of a model that takes 1.8 ms a tenth would be 5 % of each ratio. */
const percentile = (sorted: readonly number[], share: number): number =>
  round(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0, 2);

export const round = (value: number, digits = 1) => Math.round(value * 10 ** digits) / 10 ** digits;

export interface Timed extends Spread {
  /** Embedding alone, a part of the time above. */
  readonly embed_p50: number;
  readonly embed_p95: number;
  /** The model alone on texts of the same sort, in turns with these calls. */
  readonly alone?: Spread;
  /** CPU time of all threads of the process, per call. */
  readonly cpu_ms: number;
  /** Mean milliseconds per call by step; steps that follow the answer begin with `after:`. */
  readonly steps: Readonly<Record<string, number>>;
}

/** Several searchers in the owner, each asking its next question as soon as it has its answer. */
export interface AtOnce extends Spread {
  readonly searchers: number;
  readonly per_second: number;
  /** Milliseconds from the last answer until the references of all answers were counted. */
  readonly behind_ms: number;
}

/** The model alone and in a row, on texts of the same sort as those that were asked: no search can take less. */
export interface Floor {
  readonly query: Spread;
  readonly prompt: Spread;
  /** With eight askers at once. */
  readonly per_second: number;
}

/** Bytes per memory. */
export interface Storage {
  readonly total: number;
  readonly table: number;
  readonly toast: number;
  readonly ann_index: number;
  readonly other_indexes: number;
}

export interface Report {
  readonly n: number;
  readonly store: "pglite" | "postgres";
  readonly queries: number;
  readonly machine: { cpu: string; cores: number; node: string; load: number };
  readonly model: string;
  readonly build: Build | null;
  readonly calls: Readonly<Record<string, Timed>>;
  /** Over the owner's local socket, as `butler mcp` asks it. */
  readonly socket: Readonly<Record<string, Spread & { cpu_ms: number | null }>>;
  readonly at_once: AtOnce;
  readonly floor: Floor | null;
  readonly storage: Storage | null;
  readonly ingest_per_second: number;
  readonly first_answer_ms: { new_process: Spread; with_owner: Spread; open_store: number };
  readonly memory_mb: { owner: number | null; proxy: number | null; proxy_unshared: number | null };
  readonly targets: readonly Verdict[];
}

export interface Build {
  readonly episodes: number;
  readonly facts: number;
  readonly rules: number;
  readonly episodes_per_second: number;
  readonly facts_per_second: number;
  readonly seconds: number;
  readonly maintenance_seconds: number;
}

export interface Verdict {
  readonly name: string;
  readonly figure: number | null;
  readonly unit: "ms" | "MB" | "/s" | "B" | "%" | "×" | "";
  /** Whether the target is a minimum or a maximum. */
  readonly least: boolean;
  readonly target: number;
  readonly met: boolean | null;
}

type Measured = Omit<Report, "targets">;

export const most = (name: string, unit: Verdict["unit"], figure: number | null, target: number): Verdict => ({
  name,
  figure,
  unit,
  least: false,
  target,
  met: figure === null ? null : figure <= target,
});

export const least = (name: string, unit: Verdict["unit"], figure: number | null, target: number): Verdict => ({
  ...most(name, unit, figure, target),
  least: true,
  met: figure === null ? null : figure >= target,
});

/** Bytes per memory for vectors, token bits and all indexes on them. */
export const STORAGE_TARGET = 4096;

/** Searches directly after many episodes were stored at once, and while others are stored one by one. */
export const AFTER_LOAD = "search, after a bulk load";
export const BESIDE_WRITES = "search, beside writes";

/** What eight searchers at once shall have: so many answers a second, or such a share of what the model alone could embed. */
const AT_ONCE = { perSecond: 150, share: 0.7 };

/** The targets are for the embedded store: most at 10,000 memories, few also at 100,000. */
export function verdicts(report: Measured): Verdict[] {
  if (report.store !== "pglite") return [];
  const small = report.n <= 10_000;
  const p95 = (name: string) => report.calls[name]?.p95 ?? null;
  const embedding = (name: string) => report.calls[name]?.embed_p95 ?? null;
  const times = (name: string, at: "p50" | "p95") => ratio(report.calls[name]?.[at], report.calls[name]?.alone?.[at]);
  const inARow = (name: string, of: "query" | "prompt") =>
    ratio(report.calls[`${name}, in a row`]?.p50, report.floor?.[of].p50);
  const toQuiet = (name: string) => ratio(report.calls[name]?.p95, report.calls["search hybrid"]?.p95);
  return [
    most("memory_search p95 to the model alone", "×", times("search hybrid", "p95"), small ? 3 : 4),
    most("memory_context p95 to the model", "×", times("context", "p95"), small ? 3 : 4),
    most("after a bulk load, p95 to before", "×", toQuiet(AFTER_LOAD), 1.2),
    most("beside 40 writes a second, p95", "×", toQuiet(BESIDE_WRITES), 1.2),
    most("memory_search, reranked, p95", "ms", p95("search hybrid"), small ? 35 : 60),
    ...(small
      ? [
          most("memory_search p50 to the model alone", "×", times("search hybrid", "p50"), 2),
          most("memory_context p50 to the model", "×", times("context", "p50"), 2),
          most("in a row, search p50 to the model", "×", inARow("search hybrid", "query"), 2),
          most("in a row, context p50 to the model", "×", inARow("context", "prompt"), 2),
          atOnce(report),
          most("memory_context p95", "ms", p95("context"), 25),
          most("embedding in a search p95", "ms", embedding("search hybrid"), 5),
          most("embedding in a context p95", "ms", embedding("context"), 5),
          most("memory_store_episode p95", "ms", p95("store episode"), 25),
          most("first answer of a new process", "ms", report.first_answer_ms.new_process.p50, 2_000),
          most("resident memory of the owner", "MB", report.memory_mb.owner, 900),
          most("resident memory of a proxy", "MB", report.memory_mb.proxy, 120),
        ]
      : []),
    most("vectors and tokens a memory", "B", report.storage?.total ?? null, STORAGE_TARGET),
    least("memory_ingest_batch", "/s", report.ingest_per_second, 100),
  ];
}

export function atOnce({ at_once, floor }: Pick<Measured, "at_once" | "floor">): Verdict {
  const name = `eight at once, or ${AT_ONCE.share} × the model alone`;
  const told = least(name, "/s", at_once.per_second, AT_ONCE.perSecond);
  const share = ratio(at_once.per_second, floor?.per_second);
  return { ...told, met: told.met === true || (share !== null && share >= AT_ONCE.share) };
}

const ratio = (figure: number | undefined, to: number | undefined): number | null =>
  figure === undefined || to === undefined || to === 0 ? null : round(figure / to, 2);

export const row = (cells: readonly (string | number)[]) =>
  cells.map((cell, index) => (index === 0 ? String(cell).padEnd(30) : String(cell).padStart(9))).join(" ");

export const verdictLine = ({ name, figure, unit, target, met, least }: Verdict) =>
  `${met === null ? "?" : met ? "✓" : "✗"} ${name.padEnd(38)} ${String(figure ?? (met === null ? "unknown" : "none")).padStart(8)} ${unit.padEnd(2)}  (${least ? "≥" : "≤"} ${target})`;

/** The lines for calls, for the embedding within them, and for several searchers at once. */
export function callLines(calls: Report["calls"], at_once: AtOnce, floor: Floor | null = null): string[] {
  return [
    row(["in the owner, ms", "p50", "p95", "max", "CPU"]),
    ...Object.entries(calls).map(([name, t]) => row([name, t.p50, t.p95, t.max, t.cpu_ms])),
    row([`search hybrid, ${at_once.searchers} at once`, at_once.p50, at_once.p95, at_once.max]),
    ...["search hybrid", "context"].flatMap((name) => {
      const t = calls[name];
      if (t === undefined) return [];
      const { embed_p50, embed_p95, alone } = t;
      const inTurns = alone && row([`the model beside ${name}`, alone.p50, alone.p95, alone.max]);
      return [row([`embedding in ${name}`, embed_p50, embed_p95]), ...(inTurns === undefined ? [] : [inTurns])];
    }),
    ...(floor === null
      ? []
      : [
          row(["the model in a row, a query", floor.query.p50, floor.query.p95, floor.query.max]),
          row(["the model in a row, a prompt", floor.prompt.p50, floor.prompt.p95, floor.prompt.max]),
          `the model alone, eight at once: ${floor.per_second} a second`,
        ]),
    "",
    `${at_once.searchers} searchers at once: ${at_once.per_second} searches a second; references counted ${at_once.behind_ms} ms after the last answer`,
  ];
}

export const storageLine = (storage: Storage | null) =>
  storage === null
    ? "vectors and tokens: unknown, there is no model"
    : `vectors and tokens: ${storage.total} bytes a memory (table ${storage.table}, toast ${storage.toast}, vector index ${storage.ann_index}, other indexes ${storage.other_indexes})`;

export const stepLines = (calls: Report["calls"]) => [
  "Where the time goes (mean ms a call; steps may run side by side)",
  ...Object.entries(calls).map(
    ([name, t]) =>
      `  ${name.padEnd(24)} ${Object.entries(t.steps)
        .map(([step, ms]) => `${step} ${ms}`)
        .join(" · ")}`,
  ),
];

export function table(report: Report): string[] {
  const { build, first_answer_ms: first, memory_mb: memory, machine } = report;
  return [
    `${report.n.toLocaleString("en")} memories, ${report.store}, ${report.model}, ${report.queries} calls each`,
    `${machine.cores} × ${machine.cpu}, Node ${machine.node}, load ${machine.load} at the start`,
    "",
    ...(build === null
      ? ["The store was built before."]
      : [
          `Built in ${build.seconds} s: ${build.episodes_per_second} episodes and ${build.facts_per_second} facts or rules a second; maintenance ${build.maintenance_seconds} s.`,
        ]),
    "",
    ...callLines(report.calls, report.at_once, report.floor),
    storageLine(report.storage),
    "",
    row(["over the socket, ms", "p50", "p95", "max", "CPU"]),
    ...Object.entries(report.socket).map(([name, t]) => row([name, t.p50, t.p95, t.max, t.cpu_ms ?? "?"])),
    "",
    `ingest ${report.ingest_per_second} episodes/s · first answer: new process ${first.new_process.p50} ms, with an owner ${first.with_owner.p50} ms, open and search ${first.open_store} ms`,
    `resident: owner ${memory.owner ?? "?"} MB, proxy ${memory.proxy ?? "?"} MB (${memory.proxy_unshared ?? "?"} MB of its own)`,
    "",
    ...report.targets.map(verdictLine),
    "",
    ...stepLines(report.calls),
  ];
}
