/** Numbers of a benchmark: how they are summed up, what they should be, and how they are shown. */
export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

/** Nearest rank: every figure is a time that some call really took. */
export function spread(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => round(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0);
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
}

export const round = (value: number, digits = 1) => Math.round(value * 10 ** digits) / 10 ** digits;

export interface Timed extends Spread {
  /** Embedding alone, within the time above. */
  readonly embed_p50: number;
  /** Of all threads of the process, a call. */
  readonly cpu_ms: number;
  /** Mean milliseconds a call by what they were spent on; what follows the answer stands under `after:`. */
  readonly steps: Readonly<Record<string, number>>;
}

export interface Report {
  readonly n: number;
  readonly store: "pglite" | "postgres";
  readonly queries: number;
  readonly machine: { cpu: string; cores: number; node: string; load: number };
  readonly model: string;
  readonly build: Build | null;
  readonly calls: Readonly<Record<string, Timed>>;
  /** As an agent's proxy sees it: over the owner's local socket. */
  readonly socket: Readonly<Record<string, Spread & { cpu_ms: number | null }>>;
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
  readonly unit: "ms" | "MB" | "/s";
  readonly target: number;
  readonly met: boolean | null;
}

type Measured = Omit<Report, "targets">;

/** The promises are made for the embedded store: most at 10,000 memories, search also at 100,000. */
export function verdicts(report: Measured): Verdict[] {
  if (report.store !== "pglite") return [];
  const small = report.n <= 10_000;
  const p95 = (name: string) => report.calls[name]?.p95 ?? null;
  const most = (name: string, unit: Verdict["unit"], figure: number | null, target: number): Verdict => ({
    name,
    figure,
    unit,
    target,
    met: figure === null ? null : figure <= target,
  });
  const least = (name: string, figure: number, target: number): Verdict => ({
    name,
    figure,
    unit: "/s",
    target,
    met: figure >= target,
  });
  return [
    most("memory_search hybrid p95", "ms", p95("search hybrid"), small ? 35 : 60),
    ...(small
      ? [
          most("memory_context p95", "ms", p95("context"), 25),
          most("memory_store_episode p95", "ms", p95("store episode"), 25),
          most("first answer of a new process", "ms", report.first_answer_ms.new_process.p50, 2_000),
          most("resident memory of the owner", "MB", report.memory_mb.owner, 900),
          most("resident memory of a proxy", "MB", report.memory_mb.proxy, 120),
        ]
      : []),
    least("memory_ingest_batch", report.ingest_per_second, 100),
  ];
}

export function table(report: Report): string[] {
  const pad = (cells: readonly (string | number)[]) =>
    cells.map((cell, index) => (index === 0 ? String(cell).padEnd(30) : String(cell).padStart(9))).join(" ");
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
    pad(["in the owner, ms", "p50", "p95", "max", "embedding", "CPU"]),
    ...Object.entries(report.calls).map(([name, t]) => pad([name, t.p50, t.p95, t.max, t.embed_p50, t.cpu_ms])),
    "",
    pad(["over the socket, ms", "p50", "p95", "max", "", "CPU"]),
    ...Object.entries(report.socket).map(([name, t]) => pad([name, t.p50, t.p95, t.max, "", t.cpu_ms ?? "?"])),
    "",
    `ingest ${report.ingest_per_second} episodes/s · first answer: new process ${first.new_process.p50} ms, with an owner ${first.with_owner.p50} ms, open and search ${first.open_store} ms`,
    `resident: owner ${memory.owner ?? "?"} MB, proxy ${memory.proxy ?? "?"} MB (${memory.proxy_unshared ?? "?"} MB of its own)`,
    "",
    ...report.targets.map(
      ({ name, figure, unit, target, met }) =>
        `${met === null ? "?" : met ? "✓" : "✗"} ${name.padEnd(34)} ${String(figure ?? "unknown").padStart(8)} ${unit}   (${unit === "/s" ? "≥" : "≤"} ${target})`,
    ),
    "",
    "Where the time goes (mean ms a call)",
    ...Object.entries(report.calls).map(
      ([name, t]) =>
        `  ${name.padEnd(20)} ${Object.entries(t.steps)
          .map(([step, ms]) => `${step} ${ms}`)
          .join(" · ")}`,
    ),
  ];
}
